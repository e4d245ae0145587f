/** `{{.Name}}` and its kin in the values of a runner: how one runtime serves services of many names. */
import { isRecord, type JsonRecord } from '../shared/json.js';
import { RenderError } from './render-error.js';

/** What placeholders may name: metadata of the InferenceService. */
export interface PlaceholderValues {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const simple = /\{\{-?\s*\.(Name|Namespace)\s*-?\}\}/g;
const member = /\{\{-?\s*\.(Labels|Annotations)\.([A-Za-z0-9_]+)\s*-?\}\}/g;
const indexed = /\{\{-?\s*index\s+\.(Labels|Annotations)\s+(?:`([^`]*)`|"([^"]*)")\s*-?\}\}/g;

/**
 * Fills the placeholders in every text of `value`. Other text in double braces is left as it is: prompts and chat templates
 * are written in it as well.
 *
 * @throws RenderError for a label or annotation that the InferenceService does not have.
 */
export function fillPlaceholders(value: JsonRecord, values: PlaceholderValues): JsonRecord {
  return fillObject(value, values);
}

function fill(value: unknown, values: PlaceholderValues): unknown {
  if (typeof value === 'string') return value.includes('{{') ? fillText(value, values) : value;
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  return isRecord(value) ? fillObject(value, values) : value;
}

function fillObject(object: JsonRecord, values: PlaceholderValues): JsonRecord {
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [key, fill(item, values)]));
}

function fillText(text: string, values: PlaceholderValues): string {
  const look = (placeholder: string, map: string, key: string): string => {
    const found = (map === 'Labels' ? values.labels : values.annotations)[key];
    if (found !== undefined) return found;
    const what = map === 'Labels' ? 'label' : 'annotation';
    throw new RenderError(
      'RenderFailed',
      `${placeholder}: the InferenceService has no ${what} "${key}"; add it, or change the runner`,
    );
  };
  return text
    .replaceAll(simple, (_all, what: string) => (what === 'Name' ? values.name : values.namespace))
    .replaceAll(member, (all: string, map: string, key: string) => look(all, map, key))
    .replaceAll(indexed, (all: string, map: string, quoted?: string, text2?: string) =>
      look(all, map, quoted ?? text2 ?? ''),
    );
}
