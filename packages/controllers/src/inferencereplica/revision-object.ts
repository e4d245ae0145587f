/** A revision as a ControllerRevision: its content goes into `data`, its hash into the name. */
import { type Component, canonicalJson, label, type Rev, revisionHashOf, selectorLabels } from '@omenative/api';
import {
  payloadOf,
  type ReplicaHead,
  type RevisionContent,
  type RevisionPayload,
  revisionContent,
  type StoredRevision,
} from '@omenative/engine';
import { asInteger, asRecord, asText, asTextMap, isRecord, type JsonRecord } from '../shared/json.js';
import { metaOf, type ObjectMeta } from '../shared/meta.js';
import { ownerReference } from './owner.js';

/** A ControllerRevision in the cache. */
export interface RevisionRecord {
  readonly meta: ObjectMeta;
  /** Undefined when `data` is no content of ours. */
  readonly revision?: StoredRevision;
}

export function revisionRecordOf(raw: unknown): RevisionRecord {
  const object = asRecord(raw);
  const meta = metaOf(object);
  const content = contentOf(object['data']);
  if (content === undefined) return { meta };
  return {
    meta,
    revision: {
      name: meta.name,
      uid: meta.uid,
      hash: revisionHashOf(meta.name),
      number: asInteger(object['revision']) ?? 0,
      payload: payloadOf(content),
    },
  };
}

/** Members that other writers add and that say nothing, such as `creationTimestamp: null`, are left out. */
function contentOf(data: unknown): RevisionContent | undefined {
  if (!isRecord(data) || !isRecord(data['podSpec'])) return undefined;
  const meta = data['podMeta'];
  const workerMeta = data['workerPodMeta'];
  const workerSize = asInteger(data['workerSize']);
  const topologyKey = asText(data['topologyKey']);
  const pairingProtocol = asText(data['pairingProtocol']);
  return {
    podSpec: data['podSpec'],
    podMeta: isRecord(meta) ? podMetaOf(meta) : null,
    ...(isRecord(data['workerPodSpec']) ? { workerPodSpec: data['workerPodSpec'] } : {}),
    ...(workerMeta === undefined ? {} : { workerPodMeta: isRecord(workerMeta) ? podMetaOf(workerMeta) : null }),
    ...(workerSize === undefined ? {} : { workerSize }),
    ...(topologyKey === '' ? {} : { topologyKey }),
    ...(pairingProtocol === '' ? {} : { pairingProtocol }),
  };
}

function podMetaOf(meta: JsonRecord): NonNullable<RevisionContent['podMeta']> {
  return {
    ...(isRecord(meta['labels']) ? { labels: asTextMap(meta['labels']) } : {}),
    ...(isRecord(meta['annotations']) ? { annotations: asTextMap(meta['annotations']) } : {}),
  };
}

/** Whether two payloads are the same revision, whatever their names. */
export function samePayload(a: RevisionPayload, b: RevisionPayload): boolean {
  return canonicalJson(meaningOf(a)) === canonicalJson(meaningOf(b));
}

/** Absent and empty metadata mean the same to a pod. */
function meaningOf(payload: RevisionPayload): unknown {
  const { podMeta, ...rest } = revisionContent(payload);
  return { ...rest, labels: podMeta?.labels ?? {}, annotations: podMeta?.annotations ?? {} };
}

/** The ControllerRevision that stores `payload` under `name`. */
export function revisionObject(options: {
  readonly replica: ReplicaHead;
  readonly owner: string;
  readonly component: Component;
  readonly name: Rev;
  readonly number: number;
  readonly payload: RevisionPayload;
}): JsonRecord {
  const { replica, owner, component, payload } = options;
  const { pairingProtocol } = payload;
  const isPaired = pairingProtocol !== undefined && component !== 'router';
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: options.name,
      namespace: replica.namespace,
      labels: selectorLabels(owner, component),
      ...(isPaired ? { annotations: { [label.pairingProtocol]: pairingProtocol } } : {}),
      ownerReferences: [ownerReference(replica)],
    },
    data: revisionContent(payload),
    revision: options.number,
  };
}
