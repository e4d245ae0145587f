/** The numbers at the end. */
import type { Screen } from './screen.js';
import type { Traffic } from './traffic.js';
import type { Witness } from './witness.js';

export interface Figures {
  readonly witness: Witness;
  readonly traffic: Traffic;
  /** From the start of the cluster to the end of the last step. */
  readonly tookMs: number;
}

export function printFigures(screen: Screen, { witness, traffic, tookMs }: Figures): void {
  const { sent, failed, unrouted } = traffic.total;
  const late = unrouted === 0 ? '' : `; ${unrouted} found no endpoint after the deletion`;
  screen.row('requests', `${sent} sent, ${failed} failed${late}`);
  screen.row('pods', `${witness.ledger.podsCreated()} created`);
  screen.row('status writes', ['chat-engine', 'llama-engine'].map((name) => statusWrites(witness, name)).join(', '));
  screen.row('time', `${(tookMs / 1000).toFixed(1)} s`);
}

function statusWrites(witness: Witness, replica: string): string {
  const { writes, instances } = witness.ledger.statusWrites(replica);
  return `${replica} ${writes} (${(writes / Math.max(1, instances)).toFixed(1)} for each Instance)`;
}
