/** What the replica itself asks for: its headless Service while it lives, and its own end once nothing is left. */
import type { DecodedStatus } from '@omenative/api';
import { headlessServiceName, teardownFinalizer } from '@omenative/api';
import type { Chain, Cover, Effect } from '../effects.js';
import { prunedRevisions } from '../history.js';
import type { Hold } from '../hold.js';
import { keyOfObject } from '../keys.js';
import { acks } from '../mail.js';
import type { Snapshot } from '../snapshot.js';
import { blockers, isTeardownOverdue } from '../teardown.js';
import type { Demand } from './chains.js';

const covers: Cover = { by: 'rule', rule: 'object' };

export function demandOfReplica(snapshot: Snapshot, status: DecodedStatus): Demand {
  const effects =
    snapshot.replica.deletingSince === undefined ? whileAlive(snapshot, status) : atTheEnd(snapshot, status);
  // At the end one thing follows from the other; while it lives, nothing does.
  const groups = snapshot.replica.deletingSince === undefined ? effects.map((effect) => [effect]) : [effects];
  const chains = groups
    .filter((group) => group.length > 0)
    .map((group): Chain => ({ lane: 'misc', effects: group, stopLaneOn: ['throttled'] }));
  return { chains, holds: nameTaken(snapshot) };
}

/** Pods find each other, and gangs start, by this Service: until its name is free somebody has to be told. */
function nameTaken(snapshot: Snapshot): readonly Hold[] {
  if (snapshot.replica.deletingSince !== undefined) return [];
  const name = headlessName(snapshot);
  const wake = [{ on: 'service', key: name }] as const;
  switch (snapshot.headlessService) {
    case 'foreign':
      return [
        { is: 'NameTaken', text: `Service ${name} exists and is not of this replica: delete or rename it`, wake },
      ];
    case 'terminating':
      return [{ is: 'NameTaken', text: `Service ${name} is being deleted and is made again when it is gone`, wake }];
    case 'present':
    case 'absent':
      return [];
  }
}

function whileAlive(snapshot: Snapshot, status: DecodedStatus): readonly Effect[] {
  const housekeeping = [...acks(snapshot, status.rows, status.blocks), ...prunedRevisions(snapshot, status)];
  if (snapshot.headlessService !== 'absent') return housekeeping;
  return [
    { do: 'ensureHeadless', key: keyOfObject('ensureHeadless', headlessName(snapshot)), covers },
    ...housekeeping,
  ];
}

/** The headless Service lives until the last pod is gone: a draining gang still talks through it. */
function atTheEnd(snapshot: Snapshot, status: DecodedStatus): readonly Effect[] {
  const release: Effect = {
    do: 'finalizer',
    key: keyOfObject('finalizer-remove', teardownFinalizer),
    covers,
    change: 'remove',
  };
  if (isTeardownOverdue(snapshot)) return [release];
  if (blockers(snapshot, status) > 0) return [];
  if (snapshot.headlessService === 'present') {
    return [{ do: 'deleteHeadless', key: keyOfObject('deleteHeadless', headlessName(snapshot)), covers }, release];
  }
  return [release];
}

function headlessName(snapshot: Snapshot): string {
  return headlessServiceName(snapshot.spec.owner, snapshot.spec.component);
}
