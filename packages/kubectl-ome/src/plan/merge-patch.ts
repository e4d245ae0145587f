/** Merge patches (RFC 7386): applying one, and the one that `kubectl apply` would send. */
import { asRecord, isRecord, type JsonRecord } from '@omenative/controllers/observe';
import { mergePatchBetween } from '@omenative/kube';

/** Where kubectl keeps what it applied last. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The value with the patch applied. Neither argument is changed. */
export function merged(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = { ...asRecord(value) };
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key];
    else result[key] = merged(result[key], change);
  }
  return result;
}

/**
 * What `kubectl apply` sends for a custom resource: what the file adds or changes against the object as it is, and what it
 * no longer has against what was applied last. Fields that others have set stay.
 *
 * @throws Error when the annotation of the last apply is not JSON.
 */
export function applyPatch(current: JsonRecord, file: JsonRecord): JsonRecord {
  const last = asRecord(asRecord(current['metadata'])['annotations'])[lastAppliedAnnotation];
  const original: unknown = typeof last === 'string' ? JSON.parse(last) : file;
  const annotated = merged(file, {
    metadata: { annotations: { [lastAppliedAnnotation]: `${JSON.stringify(file)}\n` } },
  });
  const changes = only('changes', mergePatchBetween(current, annotated));
  const removals = only('removals', mergePatchBetween(original, file));
  return asRecord(overlaid(asRecord(removals), asRecord(changes)));
}

/** The part of a merge patch that sets, or the part that removes. */
function only(kept: 'changes' | 'removals', patch: unknown): JsonRecord {
  const result: Record<string, unknown> = {};
  for (const [key, change] of Object.entries(asRecord(patch))) {
    if (change === null) {
      if (kept === 'removals') result[key] = null;
    } else if (isRecord(change)) {
      const inner = only(kept, change);
      // An empty object that is set is a change; one of which nothing is left is none.
      const isSet = kept === 'changes' && Object.keys(change).length === 0;
      if (isSet || Object.keys(inner).length > 0) result[key] = inner;
    } else if (kept === 'changes') {
      result[key] = change;
    }
  }
  return result;
}

/** Two patches as one; the second wins. Unlike `merged`, a null of the first stays. */
function overlaid(first: JsonRecord, second: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...first };
  for (const [key, change] of Object.entries(second)) {
    const before = result[key];
    result[key] = isRecord(before) && isRecord(change) ? overlaid(before, change) : change;
  }
  return result;
}
