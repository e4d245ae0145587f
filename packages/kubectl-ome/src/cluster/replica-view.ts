/** A replica as the controller would see it at this moment, and what it would then do: its own snapshot and its own plan. */
import type { Index } from '@omenative/api';
import {
  type Caches,
  type OperatorSettings,
  observe,
  type ReplicaRecord,
  specViewOf,
  teardownViewOf,
  worldOf,
} from '@omenative/controllers/observe';
import { type Plan, plan, type Snapshot } from '@omenative/engine';

export type ReplicaView =
  | { readonly is: 'seen'; readonly record: ReplicaRecord; readonly snapshot: Snapshot; readonly plan: Plan }
  /** Nothing is done for it as it is. `message` says why. */
  | { readonly is: 'blocked'; readonly record: ReplicaRecord; readonly reason: string; readonly message: string };

/** Rounds of looking closer that a plan may ask for. */
const maxRounds = 4;

/** `nowMs` is milliseconds since the epoch. */
export function viewReplica(
  caches: Caches,
  record: ReplicaRecord,
  settings: OperatorSettings,
  nowMs: number,
): ReplicaView {
  if (!record.status.ok) {
    const message = `the status can't be decoded, so that nothing is done: ${record.status.message}`;
    return { is: 'blocked', record, reason: 'InstanceStatusDecodeFailed', message };
  }
  const { status } = record.status;
  const world = worldOf(caches, record);
  const names = new Set(world.revisions.flatMap(({ revision }) => (revision === undefined ? [] : [revision.name])));
  const isDying = record.meta.deletionAt !== undefined;
  const read = specViewOf(record, settings.lifecycle, (name) => names.has(name));
  const view = read.ok || !isDying ? read : teardownViewOf(record);
  if (!view.ok) return { is: 'blocked', record, reason: view.reason, message: view.message };
  // Everything was read a moment ago: what is not there is not there.
  const readIndices = new Set<Index>([...status.rows.keys(), ...world.pods.map((pod) => pod.view.index)]);
  const look = (): Snapshot => {
    const { spec, live } = view;
    const { snapshot: seen } = observe(world, {
      nowMs,
      status,
      spec,
      live,
      config: settings.lifecycle,
      inbox: new Map(),
      blind: new Set(),
      readIndices,
    });
    return { ...seen, ...templateCheckOf(seen) };
  };
  let snapshot = look();
  let made = plan(snapshot);
  for (let round = 0; made.reads.length > 0 && round < maxRounds; round += 1) {
    for (const { index } of made.reads) readIndices.add(index);
    snapshot = look();
    made = plan(snapshot);
  }
  return { is: 'seen', record, snapshot, plan: made };
}

/**
 * What the API server said to the pods of the target is in the manager's memory. A refusal is in the status as well, as the
 * reason of a hold; where there is none, the pods are taken to be accepted.
 */
function templateCheckOf({ status, target }: Snapshot): Pick<Snapshot, 'templateCheck'> {
  const { rolloutHold } = status;
  const refused = `the API server refuses the pods of ${target}: `;
  if (rolloutHold?.gate !== 'Plan' || !rolloutHold.reason.startsWith(refused)) return {};
  return { templateCheck: { of: target, is: 'refused', message: rolloutHold.reason.slice(refused.length) } };
}
