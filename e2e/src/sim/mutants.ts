/**
 * Faults sown into the product, one at a time: the proof that the proof has teeth. Each names the compiled files, the texts it
 * replaces there, and the runs in which the simulation must notice.
 */

/** Runs that a mutant is tried in, in order, until one fails. */
export type Trial =
  | { readonly kind: 'chaos'; readonly scenario: string; readonly seeds: number }
  | { readonly kind: 'sweep'; readonly scenario: string }
  | { readonly kind: 'takeover' };

export interface Edit {
  /** Below `packages/`, as compiled. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** More than one where two safeguards stand behind each other: with either of them the fault does no harm. */
  readonly edits: readonly Edit[];
  readonly trials: readonly Trial[];
}

const chaos = (scenario: string, seeds: number): Trial => ({ kind: 'chaos', scenario, seeds });
const sweep = (scenario: string): Trial => ({ kind: 'sweep', scenario });

export const mutants: readonly Mutant[] = [
  {
    name: 'skip the floors and the replies: believe a cache that does not show our own writes',
    edits: [
      {
        file: 'controllers/dist/inferencereplica/own-writes.js',
        find: 'if (this.#floors.isBlind(',
        replace: 'if (false && this.#floors.isBlind(',
      },
      {
        file: 'controllers/dist/inferencereplica/act/create-pod.js',
        find: 'caches.pods.takeIn(',
        replace: '((_) => {})(',
      },
    ],
    trials: [chaos('create', 6)],
  },

  {
    name: 'drop the UID from the preconditions of a delete',
    edits: [
      {
        file: 'controllers/dist/inferencereplica/act/delete-pod.js',
        find: 'preconditions: { uid: effect.pod.uid, resourceVersion: effect.pod.resourceVersion },',
        replace: 'preconditions: {},',
      },
    ],
    trials: [chaos('scale-down', 3)],
  },
  {
    name: 'delete before the pod has left rotation',
    edits: [
      {
        file: 'engine/dist/demand/pods.js',
        find: 'const isOut = isDrained(snapshot, pod, hold);',
        replace: "return { out: [], gone: [deletion(pod, covers, 'none', graceSeconds)], isOut: true };",
      },
    ],
    trials: [chaos('scale-down', 3)],
  },
  {
    name: 'delete as soon as the gate is closed, whatever the slices say, in the cache and live',
    edits: [
      {
        file: 'engine/dist/demand/pods.js',
        find: "return hasHold(pod, hold) && !pod.ready && snapshot.rotation.get(pod.uid) === 'out';",
        replace: 'return hasHold(pod, hold);',
      },
      {
        file: 'controllers/dist/inferencereplica/act/delete-pod.js',
        find: 'const detail = await context.guard.objection(pod);',
        replace: 'const detail = undefined;',
      },
    ],
    trials: [chaos('scale-down', 3)],
  },

  {
    name: 'tie the creation of pods to the moment the operation opens',
    edits: [
      {
        file: 'engine/dist/demand/pods.js',
        find: 'export function createMissing(snapshot, row, set, rev, covers) {',
        replace:
          'export function createMissing(snapshot, row, set, rev, covers) { if (snapshot.status.rows.get(row.index)?.op !== undefined) return { effects: [], holds: [] };',
      },
    ],
    trials: [sweep('create')],
  },
  {
    name: 'write the status without its resourceVersion',
    edits: [
      {
        file: 'controllers/dist/inferencereplica/persist.js',
        find: 'const draft = { ...replica.base, status };',
        replace:
          'const draft = { ...replica.base, status }; draft.metadata = { ...draft.metadata, resourceVersion: undefined };',
      },
    ],
    trials: [chaos('surge', 5)],
  },
  {
    name: 'forget the fence',
    edits: [{ file: 'kube/dist/fence.js', find: 'if (!state.open) {', replace: 'if (false) {' }],
    trials: [{ kind: 'takeover' }],
  },
  {
    name: 'write the status twice',
    edits: [
      {
        file: 'controllers/dist/inferencereplica/persist.js',
        find: 'replicas.takeIn(reply);',
        replace:
          'replicas.takeIn(await client.replaceStatus(inferenceReplicaType, { ...draft, metadata: reply.metadata }));',
      },
    ],
    trials: [chaos('create', 2)],
  },

  {
    name: 'drain the old pod before the new one serves',
    edits: [
      {
        file: 'engine/dist/readiness.js',
        find: 'if (!set.isComplete || lacking.length > 0)',
        replace: 'if (!set.isComplete)',
      },
      {
        file: 'engine/dist/readiness.js',
        find: 'return set.isComplete && set.live.every(isServing);',
        replace: 'return set.isComplete;',
      },
    ],
    trials: [chaos('surge', 5)],
  },
  {
    name: 'let a gang member into rotation as soon as it is ready itself',
    edits: [
      {
        file: 'engine/dist/readiness.js',
        find: 'return set.isComplete && set.live.every((pod) => pod.containersReady);',
        replace: 'return set.live.some((pod) => pod.containersReady);',
      },
    ],
    trials: [chaos('create-gang', 10)],
  },
  {
    name: 'ignore the surge budget',
    edits: [
      {
        file: 'engine/dist/budgets.js',
        find: 'export function fits(ledger, amount) {',
        replace: 'export function fits(ledger, amount) { return true;',
      },
    ],
    trials: [chaos('surge', 5)],
  },
  {
    name: 'give the finalizer up while pods are left',
    edits: [
      { file: 'engine/dist/teardown.js', find: 'return status.rows.size + podsLeft(snapshot);', replace: 'return 0;' },
    ],
    trials: [chaos('delete', 5)],
  },
  {
    name: 'let the source go though its replacement stopped serving',
    edits: [
      {
        file: 'engine/dist/demand/instances.js',
        find: 'isDraining(row.op.step) && servesNow(replacement)',
        replace: '!given',
      },
    ],
    trials: [chaos('surge', 5)],
  },
  {
    name: 'call an update done while the old pod still serves',
    edits: [
      {
        file: 'engine/dist/operations/update-surge.js',
        find: 'return pair.source === undefined || isTerminating(pair.source);',
        replace: 'return true;',
      },
    ],
    trials: [chaos('surge', 3)],
  },
  {
    name: 'create pods that no row speaks of yet',
    edits: [
      {
        file: 'controllers/dist/inferencereplica/pass.js',
        find: 'const wait = this.#counterWaitMs(plan);',
        replace:
          'const wait = this.#counterWaitMs(plan); await this.#act(plan, observation, this.#replica, plan.status ?? before);',
      },
    ],
    trials: [chaos('create', 3)],
  },

  {
    name: 'write a condition anew in every pass',
    edits: [
      { file: 'engine/dist/conditions.js', find: 'if (old !== undefined &&', replace: 'if (false &&' },
      {
        file: 'engine/dist/conditions.js',
        find: 'lastTransitionTime: old?.status === verdict.status ? old.lastTransitionTime : snapshot.now,',
        replace: 'lastTransitionTime: snapshot.now,',
      },
    ],
    trials: [chaos('create', 2)],
  },
  {
    name: 'remember in memory that a pod was made',
    edits: [
      {
        file: 'engine/dist/demand/pods.js',
        find: "const missing = set.slots.filter(({ occupant }) => occupant.is === 'missing').map(({ slot }) => slot);",
        replace:
          "const made = (globalThis.madeOnce ??= new Set()); const missing = set.slots.filter(({ occupant }) => occupant.is === 'missing').map(({ slot }) => slot).filter((slot) => { const key = slot.name; if (made.has(key)) return false; made.add(key); return true; });",
      },
    ],
    trials: [chaos('lost-pod', 3)],
  },

  {
    name: 'change the image of a pod that is in rotation',
    edits: [
      {
        file: 'engine/dist/demand/updates.js',
        find: 'if (leaves && !isDrained(snapshot, pod, hold))',
        replace: 'if (false)',
      },
    ],
    trials: [chaos('in-place', 3)],
  },
  {
    name: 'charge the ladder for every Instance of a wave',
    edits: [
      {
        file: 'engine/dist/retry.js',
        find: 'if (old?.lastFailureAt !== undefined && wave.startedAt <= old.lastFailureAt)',
        replace: 'if (false)',
      },
    ],
    trials: [chaos('bad-image-in-waves', 3)],
  },
  {
    name: 'drain a gang before its replacement serves',
    edits: [
      {
        file: 'engine/dist/operations/update-gang-surge.js',
        find: "case 'never':\n            return { to: 'wait', hold: notServing(row, set) };",
        replace: "case 'never':\n            return drain(snapshot, unit, row);",
      },
      {
        file: 'engine/dist/demand/updates.js',
        find: "sourceDemand(snapshot, unit, row, drains && servesNow(set) ? 'leaves' : 'stays'));\n        }\n    }",
        replace: "sourceDemand(snapshot, unit, row, drains ? 'leaves' : 'stays'));\n        }\n    }",
      },
    ],
    trials: [chaos('gang-surge', 3)],
  },
  {
    name: 'count nothing that is out of service against the budget',
    edits: [{ file: 'engine/dist/pacing.js', find: 'used: Math.max(0, replicas - inService)', replace: 'used: 0' }],
    trials: [chaos('recreate', 3)],
  },
  {
    name: 'drop the marker of an update in place before its Instance is Ready',
    edits: [
      {
        file: 'engine/dist/demand/updates.js',
        find: "return joined([chain('route', isContainersReady(set) ? routeAll(set, covers) : [])], []);",
        replace:
          "return joined([chain('route', isContainersReady(set) ? routeAll(set, covers) : []), chain('misc', set.live.flatMap((pod) => pod.inPlace === undefined ? [] : [{ do: 'dropMarker', key: 'dropMarker/' + pod.uid, covers: { by: 'rule', rule: 'marker' }, pod: refOf(pod) }]))], []);",
      },
    ],
    trials: [chaos('in-place', 5)],
  },
  {
    name: 'believe that an image runs as soon as it is asked for',
    edits: [
      {
        file: 'engine/dist/operations/update-in-place.js',
        find: 'function isConfirmed(pod, container, image) {',
        replace: 'function isConfirmed(pod, container, image) { return true;',
      },
    ],
    trials: [chaos('in-place', 3)],
  },
  {
    name: 'move Instances that the partition keeps back',
    edits: [
      {
        file: 'engine/dist/pacing.js',
        find: 'const { partition } = snapshot.spec.update;',
        replace: 'const partition = 0;',
      },
    ],
    trials: [chaos('recreate-partition', 2)],
  },
  {
    name: 'leave a request on the replica once it has been acted on',
    edits: [
      {
        file: 'engine/dist/mail.js',
        find: 'export function acks(snapshot, rows, blocks) {',
        replace: 'export function acks(snapshot, rows, blocks) { return [];',
      },
    ],
    trials: [chaos('surge-release', 2)],
  },
  {
    name: 'never start over what was parked',
    edits: [
      {
        file: 'engine/dist/rollout.js',
        find: "case 'parked':\n            return isDue(draft, unit);",
        replace: "case 'parked':\n            return false;",
      },
    ],
    trials: [chaos('in-place-bad-image', 2)],
  },
  {
    name: 'create Instances at a revision that is held',
    edits: [
      {
        file: 'engine/dist/create-instances.js',
        find: "if (start.is === 'open')",
        replace: 'if (true)',
      },
      {
        file: 'engine/dist/create-instances.js',
        find: "if (ladder.is !== 'open') {",
        replace: 'if (false) {',
      },
    ],
    trials: [chaos('bad-create', 3)],
  },
  {
    name: 'start updates while the rollout is paused',
    edits: [{ file: 'engine/dist/rollout.js', find: "if (snapshot.spec.pause !== 'running')", replace: 'if (false)' }],
    trials: [chaos('recreate-pause-draining', 3)],
  },
];
