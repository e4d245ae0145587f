// Nodes without anything behind them, played by kwok: many pods for little work.
import path from 'node:path';
import { ask, readyNodes } from './api.mjs';
import { Failure } from './failure.mjs';
import { start, started } from './processes.mjs';
import { kubeconfig, ports } from './settings.mjs';

/**
 * Adds `count` nodes, `fake-1` and up, and returns when they are Ready.
 *
 * @param {{ host: string, adminToken: string }} cluster
 * @param {number} count
 * @param {Record<string, string>} programs
 * @returns {Promise<void>}
 * @throws {Failure} when kwok does not start or a node is refused
 */
export async function startFakeNodes(cluster, count, programs) {
  await start('kwok', [
    programs['kwok'],
    `--kubeconfig=${kubeconfig}`,
    `--config=${path.join(import.meta.dirname, 'stages.yaml')}`,
    `--server-address=127.0.0.1:${ports.kwok}`,
    '--manage-all-nodes',
    '--node-lease-duration-seconds=40',
    '--cidr=10.128.0.0/12',
  ]);
  for (let n = 1; n <= count; n++) {
    const name = `fake-${n}`;
    const metadata = { name, labels: { 'kubernetes.io/hostname': name, type: 'kwok' } };
    const answer = await ask(cluster, 'POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
    if (answer.status !== 201) throw new Failure(`The API server refused node ${name}: ${answer.body}`);
  }
  await started('kwok', 'every fake node is Ready', async () => (await readyNodes(cluster)).length === count);
}
