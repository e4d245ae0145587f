/** Tells people: Events about what was decided, and log lines about what changed. */
import { apiVersion, type DecodedStatus, type InstanceRow, phaseOf } from '@omenative/api';
import type { EventIntent, Hold } from '@omenative/engine';
import type { ObjectReference } from '@omenative/kube';
import type { Caches } from '../caches.js';
import type { EventSink } from '../shared/events.js';
import type { Log } from '../shared/log.js';
import type { ReplicaRecord } from './replica-record.js';
import { Waits } from './waits.js';

/** Reasons that speak of the replica object itself, whoever its parent is. */
const aboutReplica: ReadonlySet<string> = new Set([
  'TeardownBlocked',
  'TeardownDeadlineExceeded',
  'InstanceStatusConverted',
  'InstanceStatusDecodeFailed',
]);

/** Normal Events of one pass that are told one by one; a scale-up of hundreds is told in sums. */
const maxNormalEvents = 10;

export class Teller {
  readonly #events: EventSink;
  readonly #log: Log;
  readonly #waits: Waits = new Waits();
  readonly #inferenceServices: Caches['inferenceServices'];

  constructor(events: EventSink, log: Log, inferenceServices: Caches['inferenceServices']) {
    this.#events = events;
    this.#log = log;
    this.#inferenceServices = inferenceServices;
  }

  /** Records Events about a replica, on its InferenceService while that is there. */
  events(replica: ReplicaRecord, intents: readonly EventIntent[]): void {
    for (const intent of summed(intents)) {
      this.#events.record({
        regarding: this.#regarding(replica, intent.reason),
        type: intent.type,
        reason: intent.reason,
        message: intent.text,
        episode: intent.episode,
      });
    }
  }

  /** One line for each Instance whose phase or operation has changed. */
  changes(replica: ReplicaRecord, before: DecodedStatus, after: DecodedStatus): void {
    const { namespace, name } = replica.meta;
    for (const index of new Set([...before.rows.keys(), ...after.rows.keys()])) {
      const was = before.rows.get(index);
      const is = after.rows.get(index);
      if (was === is || describe(was) === describe(is)) continue;
      const fields = { namespace, name, instance: index, from: describe(was), to: describe(is) };
      this.#log('info', `Instance ${index} is ${describe(is)}`, fields);
    }
  }

  /** The waits of a plan that were not there before. */
  waits(replica: ReplicaRecord, holds: readonly Hold[]): void {
    const { namespace, name, uid } = replica.meta;
    for (const { level, text, fields, event } of this.#waits.begun(uid, holds)) {
      this.#log(level, text, { namespace, name, ...fields });
      if (event !== undefined) this.events(replica, [event]);
    }
  }

  /** The replica of this UID is no more. */
  forget(uid: string): void {
    this.#waits.forget(uid);
  }

  log(level: Parameters<Log>[0], replica: ReplicaRecord, message: string): void {
    this.#log(level, message, { namespace: replica.meta.namespace, name: replica.meta.name });
  }

  #regarding(replica: ReplicaRecord, reason: string): ObjectReference {
    const { namespace, name, uid, controller } = replica.meta;
    const own: ObjectReference = { apiVersion, kind: 'InferenceReplica', namespace, name, uid };
    if (replica.parentName === '' || aboutReplica.has(reason)) return own;
    const parent = this.#inferenceServices.store.get(`${namespace}/${replica.parentName}`);
    if (parent?.meta.uid !== controller.uid) return own;
    return { apiVersion, kind: 'InferenceService', namespace, name: parent.meta.name, uid: parent.meta.uid };
  }
}

function summed(intents: readonly EventIntent[]): readonly EventIntent[] {
  const normal = intents.filter((intent) => intent.type === 'Normal');
  if (normal.length <= maxNormalEvents) return intents;
  const byReason = new Map<string, EventIntent[]>();
  for (const intent of normal) byReason.set(intent.reason, [...(byReason.get(intent.reason) ?? []), intent]);
  const sums = [...byReason.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [group.length === 1 ? first : { ...first, text: `${first.text} (and ${group.length - 1} more like it)` }];
  });
  return [...intents.filter((intent) => intent.type === 'Warning'), ...sums];
}

/** `Updating (Update/Surge)`, or `gone`. */
function describe(row: InstanceRow | undefined): string {
  if (row === undefined) return 'gone';
  const op = row.kind === 'failed' ? row.kept : row.kind === 'foreign' || !('op' in row) ? undefined : row.op;
  return op === undefined ? phaseOf(row) : `${phaseOf(row)} (${op.type}/${op.step})`;
}
