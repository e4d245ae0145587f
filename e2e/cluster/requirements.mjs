// What a machine must have for real nodes. Missing packages are installed where that is possible (Debian, as root).
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Unsupported } from './failure.mjs';
import { cniFolders } from './node-config.mjs';
import { searchPath } from './processes.mjs';
import { run } from './run.mjs';
import { hiddenFromNodes } from './settings.mjs';

const waysOut =
  'Instead you can use a cluster made by kind, where Docker is (OME_CLUSTER=kind), or a cluster of your own, the one ' +
  'that KUBECONFIG names (OME_CLUSTER=current).';

const onPath = (name) =>
  searchPath
    .split(':')
    .map((folder) => path.join(folder, name))
    .find((candidate) => existsSync(candidate));

/** Every need with the Debian package that meets it. */
const needs = [
  { what: 'containerd', package: 'containerd', isMet: () => onPath('containerd') && onPath('ctr') },
  { what: 'runc', package: 'runc', isMet: () => onPath('runc') },
  {
    what: 'the CNI plugins bridge, host-local and portmap',
    package: 'containernetworking-plugins',
    isMet: () => cniFolders.some((folder) => existsSync(path.join(folder, 'bridge'))),
  },
  { what: 'ip', package: 'iproute2', isMet: () => onPath('ip') },
  { what: 'iptables', package: 'iptables', isMet: () => onPath('iptables') },
  { what: 'unshare and nsenter', package: 'util-linux', isMet: () => onPath('unshare') && onPath('nsenter') },
  { what: 'a static busybox', package: 'busybox-static', isMet: () => staticBusybox() },
];

/**
 * Makes sure that this machine can run real nodes, installing packages when it may.
 *
 * @param {(sentence: string) => void} say
 * @param {readonly string[]} folders that nodes must see
 * @returns {Promise<void>}
 * @throws {Unsupported} that says what is missing and what to do instead
 */
export async function requireNodeSupport(say, folders) {
  for (const folder of folders) {
    if (!hiddenFromNodes.some((hidden) => `${folder}/`.startsWith(`${hidden}/`))) continue;
    throw new Unsupported(
      `Real nodes cannot see ${folder}, because they have a ${hiddenFromNodes.join(', ')} of their own. ` +
        'Name folders elsewhere in OME_CLUSTER_DIR and OME_CLUSTER_CACHE.',
    );
  }
  if (process.platform !== 'linux') throw new Unsupported(`Real nodes need Linux. ${waysOut}`);
  if (process.getuid?.() !== 0) throw new Unsupported(`Real nodes need root. ${waysOut}`);
  const missing = needs.filter((need) => !need.isMet());
  if (missing.length === 0) return;
  const packages = missing.map((need) => need.package);
  if (!onPath('apt-get')) {
    const names = missing.map((need) => need.what).join(', ');
    throw new Unsupported(`Real nodes need ${names}. Install them (in Debian: ${packages.join(' ')}). ${waysOut}`);
  }
  say(`Installing ${packages.join(', ')}.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // A source that does not answer is no reason to give up: the package may be in another, or in an older list.
  await run(['apt-get', 'update', '--quiet'], { env }).catch((error) => say(error.message));
  await run(['apt-get', 'install', '--quiet', '--yes', '--no-install-recommends', ...packages], { env });
  const still = needs.filter((need) => !need.isMet()).map((need) => need.what);
  if (still.length > 0)
    throw new Unsupported(`Installed ${packages.join(', ')}, and still miss ${still.join(', ')}. ${waysOut}`);
}

/** @returns {string | undefined} the path of a busybox that needs no libraries, so that it can be all there is in an image */
export function staticBusybox() {
  const busybox = onPath('busybox');
  return busybox !== undefined && isStatic(readFileSync(busybox)) ? busybox : undefined;
}

/** Whether a 64-bit little-endian ELF program names no dynamic loader. */
function isStatic(program) {
  const interpreter = 3;
  const [table, entryBytes, entries] = [
    Number(program.readBigUInt64LE(32)),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ];
  return !Array.from({ length: entries }, (_, i) => program.readUInt32LE(table + i * entryBytes)).includes(interpreter);
}
