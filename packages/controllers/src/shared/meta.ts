/** The part of `metadata` that every cached object keeps, whatever its kind. */
import { parseTime, type Sec } from '@omenative/api';
import { asRecord, asRecords, asText, asTextMap, asTexts, type JsonRecord } from './json.js';

export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly createdAt: Sec;
  /** When its grace ends; absent while nobody asked for its deletion. */
  readonly deletionAt?: Sec;
  /** The owner reference with `controller: true`; '' parts when there is none. */
  readonly controller: { readonly kind: string; readonly name: string; readonly uid: string };
}

const noController = { kind: '', name: '', uid: '' };

export function metaOf(raw: JsonRecord): ObjectMeta {
  const meta = asRecord(raw['metadata']);
  const deletionAt = parseTime(asText(meta['deletionTimestamp']));
  const owner = asRecords(meta['ownerReferences']).find((reference) => reference['controller'] === true);
  return {
    namespace: asText(meta['namespace']),
    name: asText(meta['name']),
    uid: asText(meta['uid']),
    resourceVersion: asText(meta['resourceVersion']),
    labels: asTextMap(meta['labels']),
    annotations: asTextMap(meta['annotations']),
    finalizers: asTexts(meta['finalizers']),
    createdAt: parseTime(asText(meta['creationTimestamp'])) ?? 0,
    ...(deletionAt === undefined ? {} : { deletionAt }),
    controller:
      owner === undefined
        ? noController
        : { kind: asText(owner['kind']), name: asText(owner['name']), uid: asText(owner['uid']) },
  };
}
