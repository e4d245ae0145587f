/**
 * Real nodes. A node is a set of namespaces (processes, network, mounts) with a containerd, a kubelet and a kube-proxy
 * in it. Ending its first process is pulling the plug: the kernel takes the rest, and nothing is left on the machine.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { removeControlGroups } from './cleanup.mjs';
import { connectNode, initOf, inside } from './network.mjs';
import { writeContainerdConfig, writeKubeletConfig, writeKubeProxyConfig } from './node-config.mjs';
import { end, find, findInit, start, started } from './processes.mjs';
import { run, succeeds } from './run.mjs';
import { file, networks } from './settings.mjs';

/**
 * Switches node `n` on: at first, and again after a crash (its disk is kept, as a machine's would be).
 *
 * @param {number} n counted from 1
 * @param {{ nodes: number }} shape
 * @param {Record<string, string>} programs
 * @returns {Promise<void>}
 */
export async function startNode(n, shape, programs) {
  const name = `node-${n}`;
  const folder = file(name);
  mkdirSync(path.join(folder, 'lib'), { recursive: true });
  const namespaces = ['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc'];
  const init = path.join(import.meta.dirname, 'node-init');
  await start(name, ['unshare', ...namespaces, init, folder, programs['pause']]);
  await initOf(name);
  await connectNode(n, shape.nodes);
  await startContainerd(n);
  await startKubeProxy(n, programs);
  await startKubelet(n, programs);
}

/** Ends the kubelet of node `n` and nothing else: its containers go on, and the API server no longer hears of them. */
export async function stopKubelet(n) {
  await end((member) => member.name === `node-${n}/kubelet`, 5_000);
}

/** Pulls the plug of node `n`: kubelet, containers and network end at once. */
export async function crashNode(n) {
  await end((member) => member.name === `node-${n}` || member.name.startsWith(`node-${n}/`), 0);
  await removeControlGroups(file(`node-${n}`));
}

/** @returns {boolean} whether node `n` is switched on */
export function isOn(n) {
  return findInit(`node-${n}`) !== undefined;
}

/** @returns {boolean} whether everything that node `n` consists of runs */
export function isWhole(n) {
  return isOn(n) && ['containerd', 'kube-proxy', 'kubelet'].every((part) => find(`node-${n}/${part}`) !== undefined);
}

async function startOn(n, program, args) {
  const command = [...inside(await initOf(`node-${n}`), 'net', 'pid', 'mount'), program, ...args];
  await start(`node-${n}/${path.basename(program)}`, command);
}

async function startContainerd(n) {
  await startOn(n, 'containerd', ['--config', writeContainerdConfig(n)]);
  const ctr = [...inside(await initOf(`node-${n}`), 'net', 'pid', 'mount'), 'ctr', '--namespace', 'k8s.io'];
  await started(`node-${n}/containerd`, `containerd answers on node-${n}`, () => succeeds([...ctr, 'version']));
  for (const image of readdirSync(file('images'))) await run([...ctr, 'images', 'import', file('images', image)]);
}

/** Starts the kubelet of node `n`, which must be on. */
export async function startKubelet(n, programs) {
  await startOn(n, programs['kubelet'], [
    `--config=${writeKubeletConfig(n)}`,
    `--kubeconfig=${file(`node-${n}.kubeconfig`)}`,
    `--hostname-override=node-${n}`,
    `--node-ip=${networks.node(n)}`,
  ]);
}

const startKubeProxy = (n, programs) => startOn(n, programs['kube-proxy'], [`--config=${writeKubeProxyConfig(n)}`]);
