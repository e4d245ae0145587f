/** The record of an update in place, as a pod's annotation. */
import type { InPlaceMarker } from '@omenative/engine';
import { asInteger, asRecord, asTextMap, isRecord } from '../shared/json.js';

export function inPlaceAnnotation(marker: InPlaceMarker): string {
  return JSON.stringify(marker);
}

/** Undefined for what is not such a record: then only the kubelet's own words count. */
export function inPlaceMarkerOf(text: string | undefined): InPlaceMarker | undefined {
  if (text === undefined) return undefined;
  const parsed = parsedOrNothing(text);
  if (!isRecord(parsed)) return undefined;
  const counts = Object.entries(asRecord(parsed['restartCounts'])).flatMap(([name, value]) => {
    const count = asInteger(value);
    return count === undefined ? [] : [[name, count] as const];
  });
  return { targetImages: asTextMap(parsed['targetImages']), restartCounts: Object.fromEntries(counts) };
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
