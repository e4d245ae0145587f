/** A revision as a ControllerRevision: its content goes into `data`, its hash into the name. */
import { type Component, label, type Rev, revisionHashOf, selectorLabels } from '@omenative/api';
import {
  meaningOf,
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
  /**
   * `unknown`: the content has workers and does not say how many, nor what metadata of their own they have. Other versions
   * write it so; the payload then has one worker, with the leader's metadata.
   */
  readonly workers: 'asStored' | 'unknown';
}

export function revisionRecordOf(raw: unknown): RevisionRecord {
  const object = asRecord(raw);
  const meta = metaOf(object);
  const content = contentOf(object['data']);
  if (content === undefined) return { meta, workers: 'asStored' };
  return {
    meta,
    workers: content.workerPodSpec !== undefined && content.workerSize === undefined ? 'unknown' : 'asStored',
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

/** Whether two payloads are the same revision, whatever their names and whoever wrote them down. */
export function samePayload(a: RevisionPayload, b: RevisionPayload): boolean {
  return meaningOf(a) === meaningOf(b);
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
