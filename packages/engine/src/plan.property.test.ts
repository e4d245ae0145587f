import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import fc from 'fast-check';
import { demand } from './demand.js';
import type { Effect } from './effects.js';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { arbitraryWorld } from './testing/arbitrary-world.js';

const runs = { numRuns: 1000 };

/** The same world with the plan's status persisted. */
function persisted(snapshot: Snapshot): Snapshot {
  return { ...snapshot, status: plan(snapshot).status ?? snapshot.status };
}

/** What is under way: an operation that has failed has ended, and one that goes on in another way is another. */
function operationOf(row: InstanceRow | undefined): string {
  if (row === undefined) return 'none';
  if (row.kind === 'foreign' || !('op' in row)) return row.kind;
  const way = row.op.step === 'InPlace' || row.op.step === 'Drain' ? row.op.step : '';
  return `${row.kind}/${'phase' in row ? row.phase : ''}${way}/${row.op.id}`;
}

/** Indices whose operation was opened or closed, with those that advance together with them. */
function opened(before: Snapshot, after: Snapshot): ReadonlySet<number> {
  const rows = [...before.status.rows.values(), ...after.status.rows.values()];
  const moved = new Set(
    rows
      .map(({ index }) => index)
      .filter((index) => operationOf(before.status.rows.get(index)) !== operationOf(after.status.rows.get(index))),
  );
  const pairs = rows.flatMap((row) => (row.kind === 'gangFrom' ? [[row.index, row.op.surgeIndex]] : []));
  return new Set([...moved, ...pairs.filter((pair) => pair.some((index) => moved.has(index))).flat()]);
}

function effectsOf(snapshot: Snapshot): readonly Effect[] {
  return plan(snapshot).chains.flatMap((chain) => chain.effects);
}

describe('a plan over random rows, pods and specs', () => {
  it('changes no row a second time unless it opened or closed its operation the first time', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const after = persisted(before);
        const again = persisted(after);
        const indices = [...new Set([...before.status.rows.keys(), ...after.status.rows.keys()])];
        const changed = opened(before, after);
        for (const index of indices) {
          const is = after.status.rows.get(index);
          if (changed.has(index)) continue;
          // What one operation gives back when it ends, a place or a surge slot, may start another in the next pass.
          if (!operationOf(is).includes('/') && changed.size > 0) continue;
          expect(again.status.rows.get(index)).toEqual(is);
        }
      }),
      runs,
    );
  });

  it('settles within five plans while the world stands still', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        // The longest way there is: an update is taken back, its Instance is lost, has no place any more, and goes.
        const fifth = persisted(persisted(persisted(persisted(persisted(before)))));
        expect(plan(fifth).status).toBeUndefined();
      }),
      runs,
    );
  });

  it('asks for the same effects whether the status was persisted now or long ago', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const after = persisted(before);
        expect(demand(after, after.status)).toEqual(demand(before, after.status));
      }),
      runs,
    );
  });

  it('covers every effect by an operation of the status it persists, or by a rule', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const { rows } = persisted(before).status;
        for (const effect of effectsOf(before)) {
          if (effect.covers.by === 'rule') continue;
          const row = rows.get(effect.covers.index);
          expect(operationOf(row)).toContain(effect.covers.id);
        }
      }),
      runs,
    );
  });

  it('gives every hold a wake, and every blind Instance nothing to do', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const { holds, chains } = plan(before);
        for (const hold of holds) expect(hold.wake.length).toBeGreaterThan(0);
        for (const effect of chains.flatMap((chain) => chain.effects)) {
          if (effect.covers.by === 'operation') expect(before.blind.has(effect.covers.index)).toBe(false);
        }
      }),
      runs,
    );
  });

  it('takes no pod that serves out of rotation beyond what an update with a serving replacement or the user asks for', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const { rows } = persisted(before).status;
        for (const effect of effectsOf(before)) {
          const takesOut = (effect.do === 'gate' && effect.change === 'add') || effect.do === 'deletePod';
          if (!takesOut) continue;
          const pods = [...before.pods.values()].flat();
          const pod = pods.find((one) => one.uid === effect.pod.uid);
          const isServing = pod?.ready === true && pod.gate.state === 'true' && pod.deletionAt === undefined;
          if (pod === undefined || !isServing) continue;
          const row = rows.get(pod.index);
          const others = pods.filter((one) => one.uid !== pod.uid && one.ready);
          const allowed =
            row === undefined ||
            row.kind === 'deleting' ||
            (row.kind === 'updating' && (row.op.step === 'InPlace' || others.some((one) => one.index === pod.index))) ||
            (row.kind === 'gangFrom' && others.some((one) => one.index === row.op.surgeIndex)) ||
            pod.revisionHash !== row.running.slice(-8) ||
            pod.incarnation !== row.incarnation ||
            !pod.name.endsWith(`-${row.activeOrdinal}`);
          expect([allowed, row?.kind, effect.do]).toEqual([true, row?.kind, effect.do]);
        }
      }),
      runs,
    );
  });

  it('never deletes a pod that was let into rotation without looking once more', () => {
    fc.assert(
      fc.property(arbitraryWorld, (before) => {
        const after = persisted(before);
        for (const effect of effectsOf(before)) {
          if (effect.do !== 'deletePod' || effect.guard !== 'none') continue;
          const pod = [...before.pods.values()].flat().find((one) => one.uid === effect.pod.uid);
          const row = after.status.rows.get(pod?.index ?? -1);
          const isOverdue = row?.kind === 'deleting' && row.announced.includes(`DrainOverdue@${row.op.id}`);
          const isOut = pod?.gate.state === 'absent' || pod?.phase === 'Failed' || pod?.phase === 'Succeeded';
          expect(isOut || isOverdue).toBe(true);
        }
      }),
      runs,
    );
  });
});
