/** The PodGroup controller of scheduler-plugins: phase and counters, from the pods that carry the group's label. */

import { asObject } from '../base/json.js';
import { type KubeObject, keyOf, objectKey } from '../base/object.js';
import type { Change } from '../base/store.js';
import { rfc3339 } from '../base/time.js';
import type { Part, World } from '../base/world.js';
import { store } from './act.js';
import type { Pod } from './model.js';
import { POD_GROUP_LABEL, POD_GROUPS } from './scheduler/scheduler.js';

const ME = 'podgroup-controller';
const FINAL = new Set(['Finished', 'Failed']);

export const podGroups: Part = {
  handlers: {
    'podGroups.sync': (world: World, args: { readonly key: string }) => {
      world.notes.delete(`podGroups/${args.key}`);
      const group = world.store.get(POD_GROUPS, args.key);
      if (group !== undefined) sync(world, group);
    },
  },

  onChange(world: World, change: Change): void {
    const { object, resource } = change;
    if (resource === POD_GROUPS) {
      if (change.type !== 'DELETED') syncSoon(world, keyOf(object));
      return;
    }
    const name = resource === 'pods' ? object.metadata.labels?.[POD_GROUP_LABEL] : undefined;
    if (name === undefined) return;
    const key = objectKey(object.metadata.namespace, name);
    if (world.store.get(POD_GROUPS, key) !== undefined) syncSoon(world, key);
  },
};

function syncSoon(world: World, key: string): void {
  const note = `podGroups/${key}`;
  if (world.notes.has(note)) return;
  world.notes.set(note, true);
  world.after([10, 300], 'podGroups.sync', { key });
}

interface GroupStatus {
  readonly phase?: string;
  readonly running?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly scheduleStartTime?: string;
}

function sync(world: World, group: KubeObject): void {
  const before = asObject(group['status']) as GroupStatus;
  if (FINAL.has(before.phase ?? '') || group.metadata.deletionTimestamp !== undefined) return;
  const minMember = Number(asObject(group['spec'])['minMember'] ?? 1);
  const pods = ([...world.store.list('pods')] as Pod[]).filter(
    (pod) =>
      pod.metadata.namespace === group.metadata.namespace &&
      pod.metadata.labels?.[POD_GROUP_LABEL] === group.metadata.name,
  );
  const count = (phase: string): number => pods.filter((pod) => pod.status.phase === phase).length;
  const counters = { running: count('Running'), succeeded: count('Succeeded'), failed: count('Failed') };
  const phase = phaseOf(before.phase, pods.length, minMember, counters);
  const started = phase === 'Scheduling' && before.scheduleStartTime === undefined;
  const status = {
    ...before,
    ...counters,
    phase,
    ...(started ? { scheduleStartTime: rfc3339(world.nowMs) } : {}),
  };
  store(world, POD_GROUPS, { ...group, status }, group, ME);
}

function phaseOf(
  before: string | undefined,
  pods: number,
  minMember: number,
  { running, succeeded, failed }: { readonly running: number; readonly succeeded: number; readonly failed: number },
): string {
  if (before === undefined || before === '') return 'Pending';
  if (pods < minMember) return 'Pending';
  if (succeeded >= minMember) return 'Finished';
  if (failed > 0 && failed + running + succeeded >= minMember) return 'Failed';
  return running + succeeded >= minMember ? 'Running' : 'Scheduling';
}
