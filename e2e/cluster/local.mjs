// A cluster made of processes of this machine: what scripts/cluster does unless it is told to use another one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { ask, readyNodes } from './api.mjs';
import { binaries, kubernetesVersion } from './binaries.mjs';
import { claimFolder, isThereACluster, otherClusterWithNodes, removeCluster } from './cleanup.mjs';
import { startControlPlane } from './control-plane.mjs';
import { Failure, Unsupported } from './failure.mjs';
import { startFakeNodes } from './fake-nodes.mjs';
import { writeImages } from './images.mjs';
import { resetInterruption } from './interruption.mjs';
import { withLock } from './lock.mjs';
import { requireFreeAddresses, startDns, startNetwork } from './network.mjs';
import * as nodes from './nodes.mjs';
import { find } from './processes.mjs';
import { requireNodeSupport, staticBusybox } from './requirements.mjs';
import * as settings from './settings.mjs';
import { until } from './wait.mjs';

const lockTimeoutMs = 1_800_000;
const record = settings.file('cluster.json');

/**
 * @typedef {object} Shape
 * @property {number} nodes how many real nodes
 * @property {number} fake how many fake nodes
 */

/** @typedef {(sentence: string) => void} Say */

/** @returns {string} the path of the kubeconfig, whether or not there is a cluster */
export const kubeconfig = () => settings.kubeconfig;

/**
 * Brings the cluster up, or finds that it is. What an earlier run left half done is removed first.
 *
 * @param {Shape} shape
 * @param {Say} say
 * @returns {Promise<void>}
 * @throws {Failure} when it cannot, and then nothing of it is left; or when a healthy cluster of another shape is in the way
 */
export function up(shape, say) {
  return withLock(settings.dir, lockTimeoutMs, async () => {
    if (shape.nodes > settings.maxNodes)
      throw new Failure(`There is room for ${settings.maxNodes} real nodes at most.`);
    const running = await healthyCluster();
    if (running !== undefined) {
      if (running.nodes === shape.nodes && running.fake === shape.fake) {
        return say(`A healthy cluster with ${describe(shape)} is up already.`);
      }
      throw new Failure(`A cluster with ${describe(running)} is up. To replace it, run 'scripts/cluster down' first.`);
    }
    if (isThereACluster()) {
      say('Removing what an earlier run left.');
      await removeCluster();
    }
    const programs = await prepare(shape, say);
    try {
      await create(shape, programs, say);
    } catch (error) {
      say('That did not work. Removing what was started.');
      resetInterruption();
      await removeCluster();
      throw error;
    }
    say(`Kubernetes ${kubernetesVersion} with ${describe(shape)} is up.`);
  });
}

/**
 * Ends the cluster and removes everything of it. Does nothing when there is none.
 *
 * @param {Say} say
 * @returns {Promise<void>}
 * @throws {Failure} that lists what is left
 */
export function down(say) {
  return withLock(settings.dir, lockTimeoutMs, async () => {
    if (!isThereACluster()) return say('There is no cluster.');
    await removeCluster();
    say('The cluster is down, and nothing is left of it.');
  });
}

/**
 * Silences a node: about ten seconds later it is NotReady.
 *
 * @param {number} n
 * @param {Say} say
 */
export function stopKubelet(n, say) {
  return onNode(n, async () => {
    await nodes.stopKubelet(n);
    say(`The kubelet of node-${n} has ended; its containers go on.`);
  });
}

/**
 * Brings a silent or crashed node back.
 *
 * @param {number} n
 * @param {Say} say
 */
export function startKubelet(n, say) {
  return onNode(n, async (cluster) => {
    if (!nodes.isOn(n)) await nodes.startNode(n, cluster, cluster.programs);
    else if (!nodes.isWhole(n)) await nodes.startKubelet(n, cluster.programs);
    say(`The kubelet of node-${n} runs.`);
  });
}

/**
 * Ends a node and every container on it, at once.
 *
 * @param {number} n
 * @param {Say} say
 */
export function crashNode(n, say) {
  return onNode(n, async () => {
    await nodes.crashNode(n);
    say(`node-${n} is off.`);
  });
}

function onNode(n, work) {
  return withLock(settings.dir, lockTimeoutMs, () => {
    const cluster = readRecord();
    if (cluster === undefined) throw new Failure("There is no cluster. Run 'scripts/cluster up --nodes 2'.");
    if (n > cluster.nodes) throw new Failure(`There is no node-${n}: the cluster has ${describe(cluster)}.`);
    return work(cluster);
  });
}

const describe = ({ nodes: real, fake }) => (real > 0 ? count(real, 'real') : count(fake, 'fake'));
const count = (number, kind) => `${number} ${kind} ${number === 1 ? 'node' : 'nodes'}`;

/** Makes sure that the cluster can be made, changing nothing but the cache and the machine's packages. */
async function prepare(shape, say) {
  if (shape.nodes > 0) await requireRoomForNodes(say);
  await requireFreePorts();
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];
  names.push(...(shape.nodes > 0 ? ['kubelet', 'kube-proxy', 'coredns', 'pause'] : ['kwok']));
  return binaries(names, say);
}

async function create(shape, programs, say) {
  claimFolder();
  say('Starting the control plane.');
  if (shape.nodes > 0) await startNetwork(programs);
  const host = shape.nodes > 0 ? settings.networks.host : '127.0.0.1';
  const cluster = await startControlPlane({ ...shape, host }, programs);
  if (shape.fake > 0) await startFakeNodes(cluster, shape.fake, programs);
  if (shape.nodes > 0) await startRealNodes(cluster, programs, say);
  await until('namespaces have a service account', 30_000, async () => {
    return (await ask(cluster, 'GET', '/api/v1/namespaces/default/serviceaccounts/default')).status === 200;
  });
  // Written last: a cluster with a record is a finished one.
  writeFileSync(record, JSON.stringify({ ...cluster, programs }), { mode: 0o600 });
}

async function startRealNodes(cluster, programs, say) {
  writeImages(settings.file('images'), { pause: programs['pause'], busybox: staticBusybox() });
  say('Starting the nodes.');
  await startDns(programs);
  for (let n = 1; n <= cluster.nodes; n++) await nodes.startNode(n, cluster, programs);
  await until('every node is Ready', 60_000, async () => (await readyNodes(cluster)).length === cluster.nodes);
}

async function requireRoomForNodes(say) {
  await requireNodeSupport(say, [settings.dir, settings.cacheOf(kubernetesVersion)]);
  const other = otherClusterWithNodes();
  if (other !== undefined) {
    throw new Unsupported(
      `Another cluster with real nodes runs from ${other}, and a machine has room for one. ` +
        `Take it down: OME_CLUSTER_DIR=${other} scripts/cluster down`,
    );
  }
  await requireFreeAddresses();
}

async function requireFreePorts() {
  if (!(Number.isInteger(settings.ports.api) && settings.ports.api > 0 && settings.ports.kwok < 65_536)) {
    throw new Failure(`OME_CLUSTER_PORT is '${process.env['OME_CLUSTER_PORT']}': write a port number such as 6443.`);
  }
  for (const port of Object.values(settings.ports)) {
    const isFree = await new Promise((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (!isFree)
      throw new Failure(`Port ${port} is in use. Name another in OME_CLUSTER_PORT (the next five are used too).`);
  }
}

function readRecord() {
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined;
}

/** The record of the cluster when all of it runs and every node is Ready. */
async function healthyCluster() {
  const cluster = readRecord();
  if (cluster === undefined) return undefined;
  const expected = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  if (cluster.fake > 0) expected.push('kwok');
  if (cluster.nodes > 0) expected.push('coredns');
  if (!expected.every((name) => find(name) !== undefined)) return undefined;
  const whole = Array.from({ length: cluster.nodes }, (_, i) => nodes.isWhole(i + 1));
  if (whole.includes(false)) return undefined;
  const ready = await readyNodes(cluster);
  return ready.length === cluster.nodes + cluster.fake ? cluster : undefined;
}
