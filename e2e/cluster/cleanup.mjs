// Removing a cluster: all of it, whatever state it is in and whoever was interrupted while making it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Failure } from './failure.mjs';
import { allMembers, end, members } from './processes.mjs';
import { run } from './run.mjs';
import { dir, file, hostInterface } from './settings.mjs';
import { until } from './wait.mjs';

const label = '.ome-cluster';

/**
 * Makes the cluster's folder and labels it, so that `down` never removes a folder that is not a cluster's.
 *
 * @returns {void}
 * @throws {Failure} when the folder exists and holds something else
 */
export function claimFolder() {
  isThereACluster();
  mkdirSync(dir, { recursive: true });
  writeFileSync(file(label), '');
  for (const name of ['log', 'certs']) mkdirSync(file(name), { recursive: true });
}

/**
 * @returns {boolean} whether there is anything of the cluster on this machine
 * @throws {Failure} when its folder exists and holds something else
 */
export function isThereACluster() {
  if (members().length > 0) return true;
  if (!existsSync(dir)) return false;
  if (existsSync(file(label)) || readdirSync(dir).length === 0) return true;
  throw new Failure(`${dir} has files in it that are not a test cluster's. Name another folder in OME_CLUSTER_DIR.`);
}

/**
 * Ends every process of the cluster and removes everything it had on this machine.
 *
 * @returns {Promise<void>}
 * @throws {Failure} that lists what could not be removed
 */
export async function removeCluster() {
  await end(() => true, 0);
  for (const mount of mountsInside().toReversed()) await run(['umount', '--lazy', mount]);
  for (const folder of nodeFolders()) await removeControlGroups(folder);
  if (otherClusterWithNodes() === undefined) {
    await removeInterface();
    for (const group of containerGroups()) removeGroup(group);
  }
  removeFolder();
  const left = leftovers();
  if (left.length > 0) throw new Failure(`The cluster is down, but this is left of it:\n  ${left.join('\n  ')}`);
}

/** Removes the label last: what an interruption leaves is still known as a cluster's. */
function removeFolder() {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) if (name !== label) rmSync(file(name), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
}

/** @returns {string | undefined} the folder of another cluster that has real nodes at present */
export function otherClusterWithNodes() {
  return allMembers().find((member) => member.name === 'hub' && member.dir !== dir)?.dir;
}

/** What exists on this machine of the cluster. The rest lived in namespaces, which end with their processes. */
function leftovers() {
  const sockets = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`${dir}/`));
  return [
    ...members().map(({ pid, name }) => `process ${pid} (${name})`),
    ...mountsInside().map((mount) => `mount ${mount}`),
    ...sockets.map((line) => `socket ${line.split(' ').at(-1)}`),
    ...(otherClusterWithNodes() === undefined && hasInterface() ? [`network interface ${hostInterface}`] : []),
    ...(existsSync(dir) ? [`folder ${dir}`] : []),
  ];
}

function mountsInside() {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${dir}/`));
}

const hasInterface = () => existsSync(path.join('/sys/class/net', hostInterface));

/** The interface goes with the hub's namespace, which the kernel removes in its own time. */
async function removeInterface() {
  if (!hasInterface()) return;
  try {
    await until('the interface is gone', 3_000, () => !hasInterface());
  } catch {
    await run(['ip', 'link', 'delete', hostInterface]);
  }
}

/**
 * Removes what containers leave in the machine's control groups when they die with their node.
 *
 * @param {string} nodeFolder the folder of a node that is off
 * @returns {Promise<void>}
 */
export async function removeControlGroups(nodeFolder) {
  await until('the control groups of the containers are empty', 10_000, () => {
    for (const folder of controlGroups(nodeFolder)) removeGroup(folder);
    return controlGroups(nodeFolder).length === 0;
  });
}

const nodeFolders = () =>
  (existsSync(dir) ? readdirSync(dir).filter((name) => /^node-\d+$/.test(name)) : []).map((name) => file(name));

/** Every group, one in each hierarchy, under which containerd puts containers that get no place from a kubelet. */
function containerGroups() {
  const root = '/sys/fs/cgroup';
  const hierarchies = existsSync(root) ? ['', ...readdirSync(root)] : [];
  return hierarchies.map((hierarchy) => path.join(root, hierarchy, 'k8s.io')).filter((folder) => existsSync(folder));
}

/** The groups of the containers that containerd recorded on a node. */
function controlGroups(nodeFolder) {
  const records = path.join(nodeFolder, 'lib/containerd/io.containerd.runtime.v2.task/k8s.io');
  const containers = existsSync(records) ? readdirSync(records) : [];
  return containerGroups()
    .flatMap((group) => containers.map((container) => path.join(group, container)))
    .filter((folder) => existsSync(folder));
}

/** Removes a group and those below it, except where processes are. */
function removeGroup(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroup(path.join(folder, entry.name));
  }
  try {
    rmdirSync(folder);
  } catch (error) {
    if (error.code !== 'EBUSY') throw error;
  }
}
