/** What comes next for an Instance, in a sentence: the step that its operation waits to take. */
import type { InstanceRow } from '@omenative/api';
import { shortRevision } from '../report/names.js';

/** `minReadySeconds` is that of the replica. */
export function nextStepOf(row: InstanceRow, minReadySeconds: number): string {
  const stays = minReadySeconds > 0 ? ` and stays Ready for ${minReadySeconds}s` : '';
  switch (row.kind) {
    case 'ready':
      return 'nothing: it is at rest';
    case 'pending':
      return 'a Create is opened and its pods are made';
    case 'failed':
      return 'nothing by itself: its pods are kept for inspection until a corrected revision comes, they get ready after all, or it is reset';
    case 'creating':
      return `when all its containers are ready it enters rotation; once it serves${stays} it is Ready on ${shortRevision(row.op.target)}`;
    case 'restarting':
      return 'when its pods have left rotation they are deleted, and made anew once they are gone';
    case 'deleting':
      return 'when its pods have left rotation they are deleted; once they are gone the Instance is removed';
    case 'updating':
      return updateStep(row.op.step, shortRevision(row.op.target), stays);
    case 'parked':
      return 'its update failed and is tried again when the ladder of its revision allows; a corrected revision starts at once';
    case 'gangFrom':
      return row.op.step === 'Surge'
        ? `when its replacement, Instance ${row.op.surgeIndex}, serves${stays}, it leaves rotation`
        : `when no Service sends it requests any more its pods are deleted, and Instance ${row.op.surgeIndex} has taken its place`;
    case 'gangTo':
      return row.op.step === 'GangSurgeTarget'
        ? `when it serves${stays}, the Instance that it replaces leaves rotation`
        : 'its pods are deleted: it is given up';
    case 'migrateFrom':
      return `when Instance ${row.op.surgeIndex} serves${stays}, it leaves rotation and its pods are deleted`;
    case 'migrateTo':
      return `when it serves${stays}, the Instance that moves to it leaves rotation`;
    case 'foreign':
      return 'nothing: this version does not know its state; scale it down, or reset it';
  }
}

function updateStep(
  step: 'Surge' | 'SurgeDrain' | 'SurgeDrainSettle' | 'InPlace' | 'Drain',
  target: string,
  stays: string,
): string {
  switch (step) {
    case 'Surge':
      return `when the new pod serves${stays}, the old one leaves rotation`;
    case 'SurgeDrain':
    case 'SurgeDrainSettle':
      return `when no Service sends the old pod requests any more it is deleted, and the Instance is Ready on ${target}`;
    case 'InPlace':
      return `when its containers run the images of ${target} and it serves${stays}, it is Ready on ${target}`;
    case 'Drain':
      return `when its pods have left rotation they are deleted, and made anew on ${target} once they are gone`;
  }
}
