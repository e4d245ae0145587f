/** A node as the replica controller sees it: only whether it takes new pods. Heartbeats change nothing here. */
import { asRecord } from '../shared/json.js';
import { metaOf } from '../shared/meta.js';

export interface NodeRecord {
  readonly name: string;
  readonly taking: 'new pods' | 'no new pods';
}

export function nodeRecordOf(raw: unknown): NodeRecord {
  const node = asRecord(raw);
  const isCordoned = asRecord(node['spec'])['unschedulable'] === true;
  return { name: metaOf(node).name, taking: isCordoned ? 'no new pods' : 'new pods' };
}
