/** What goes wrong around a controller in the random lives of a toy cluster. */
import { shortName } from './read.js';
import type { ToyCluster } from './toy-cluster.js';

export type Mishap = 'evict' | 'lose' | 'unready' | 'hang';

/** Something befalls a pod, the `pick`-th by name, counted around as often as it takes; nothing when there is none. */
export function befall(cluster: ToyCluster, what: Mishap, pick: number): void {
  const names = [...cluster.pods.keys()].map(shortName).toSorted();
  const name = names[pick % Math.max(1, names.length)];
  if (name === undefined) return;
  if (what === 'unready') cluster.patch(name, { containersReady: false, ready: false });
  else if (what === 'hang') cluster.hung.add(name);
  else cluster[what](name);
}

/** For two seconds the controller does not see its last writes to an Instance. */
export function lag(cluster: ToyCluster, index: number): void {
  cluster.blind = new Set([index]);
  cluster.steps(2);
  cluster.blind = new Set();
}

/** The rows are gone from the status, as after a restore. */
export function loseRows(cluster: ToyCluster): void {
  cluster.status = { ...cluster.status, rows: new Map(), order: [] };
}
