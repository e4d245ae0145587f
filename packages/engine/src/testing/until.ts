/** Waiting for a toy cluster to come to something. */
import type { ToyCluster } from './toy-cluster.js';

/** Whether every Instance is Ready on `image`. */
export function isOn(cluster: ToyCluster, image: string): () => boolean {
  return () => {
    const rows = [...cluster.status.rows.values()];
    return rows.length > 0 && rows.every((row) => row.kind === 'ready' && row.running === cluster.revision(image));
  };
}

/** Steps until `is` holds, or throws; returns the most pods that there were on the way, dying ones not counted. */
export function stepUntil(cluster: ToyCluster, is: () => boolean): number {
  let most = 0;
  for (let count = 0; count < 200 && !is(); count++) {
    cluster.step();
    most = Math.max(most, [...cluster.pods.values()].filter((one) => one.deletionAt === undefined).length);
  }
  if (!is()) throw new Error(`not there after 200 steps: ${cluster.rows()}; ${cluster.podNames()}`);
  return most;
}
