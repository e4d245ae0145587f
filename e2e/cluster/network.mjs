/**
 * The network that joins the nodes of a cluster to each other and to this machine. Its hub is a network namespace with
 * a bridge; the machine gets one interface and a few routes. All of it goes with the hub's one process.
 */
import { writeFileSync } from 'node:fs';
import { Failure, Unsupported } from './failure.mjs';
import { interruption } from './interruption.mjs';
import { findInit, start, tailOf } from './processes.mjs';
import { run } from './run.mjs';
import { file, hostInterface, kubeconfig, networks } from './settings.mjs';
import { until } from './wait.mjs';

const hub = 'hub';

/**
 * Refuses to start when the machine already uses an address of the cluster.
 *
 * @returns {Promise<void>}
 * @throws {Failure}
 */
export async function requireFreeAddresses() {
  const routes = JSON.parse(await run(['ip', '-json', '-4', 'route', 'show', 'table', 'all']));
  const taken = routes.find(
    ({ dst, dev }) => dev !== hostInterface && dst !== 'default' && overlaps(dst, networks.all),
  );
  if (taken === undefined) return;
  throw new Unsupported(
    `The test cluster needs the addresses ${networks.all}, but this machine routes ${taken.dst} through ${taken.dev}. ` +
      'Use a cluster of your own with OME_CLUSTER=current, or run on another machine.',
  );
}

function overlaps(one, other) {
  const [a, b] = [one, other].map((network) => {
    const [address = '', bits = '32'] = network.split('/');
    return {
      address: address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0),
      size: 2 ** (32 - Number(bits)),
    };
  });
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

/**
 * Makes the hub and the machine's link to it.
 *
 * @param {Record<string, string>} programs
 * @returns {Promise<void>}
 */
export async function startNetwork(programs) {
  await start(hub, ['unshare', '--net', '--pid', '--fork', '--kill-child', programs['pause']]);
  const pid = await initOf(hub);
  await ip([`link add ${hostInterface} type veth peer name host netns ${pid}`]);
  await ipIn(pid, [
    'link set lo up',
    'link add bridge type bridge',
    `address add ${networks.dns}/24 dev bridge`,
    'link set bridge up',
    'link set host master bridge up',
  ]);
  await ip([`address add ${networks.host}/24 dev ${hostInterface}`, `link set ${hostInterface} up`]);
}

/** Starts CoreDNS in the hub, where no name server of the machine is in its way. */
export async function startDns(programs) {
  const config = `cluster.local:53 {
  bind ${networks.dns}
  errors
  kubernetes cluster.local {
    kubeconfig ${kubeconfig}
    ttl 1
  }
}
`;
  writeFileSync(file('Corefile'), config);
  await start('coredns', [...inside(await initOf(hub), 'net'), programs['coredns'], `-conf=${file('Corefile')}`]);
}

/**
 * Plugs a node into the hub and tells it, and this machine, where everybody is.
 *
 * @param {number} n the node
 * @param {number} nodes how many there are
 * @returns {Promise<void>}
 */
export async function connectNode(n, nodes) {
  const [hubPid, nodePid] = [await initOf(hub), await initOf(`node-${n}`)];
  await ipIn(hubPid, [
    `link add node-${n} type veth peer name eth0 netns ${nodePid}`,
    `link set node-${n} master bridge up`,
    `route replace ${networks.podsOf(n)} via ${networks.node(n)}`, // CoreDNS answers from here.
  ]);
  const others = Array.from({ length: nodes }, (_, i) => i + 1).filter((other) => other !== n);
  await ipIn(nodePid, [
    `address add ${networks.node(n)}/24 dev eth0`,
    'link set eth0 up',
    ...others.map((other) => `route add ${networks.podsOf(other)} via ${networks.node(other)}`),
    // kube-proxy rewrites these before they leave; without a route there is nothing to rewrite.
    `route add ${networks.services} dev eth0`,
  ]);
  const forward = 'echo 1 > /proc/sys/net/ipv4/ip_forward';
  await run([...inside(nodePid, 'net'), 'sh', '-c', forward]);
  await ip([
    `route replace ${networks.podsOf(n)} via ${networks.node(n)}`,
    ...(n === 1 ? [`route replace ${networks.services} via ${networks.node(n)}`] : []),
  ]);
}

/**
 * @param {number} pid the first process of the namespaces
 * @param {...('net' | 'pid' | 'mount')} kinds
 * @returns {readonly string[]} what to put before a command so that it runs in the namespaces
 */
export function inside(pid, ...kinds) {
  return ['nsenter', '--target', String(pid), ...kinds.map((kind) => `--${kind}`), '--'];
}

/**
 * Waits for the first process of the namespaces that were started as `name`.
 *
 * @returns {Promise<number>} its process id
 * @throws {Unsupported} when it does not come up
 */
export async function initOf(name) {
  try {
    return (await until(`the namespaces of ${name} exist`, 10_000, () => findInit(name))).pid;
  } catch (error) {
    if (interruption().aborted || !(error instanceof Failure)) throw error;
    throw new Unsupported(
      `${error.message} Real nodes need a machine whose root may make namespaces (a privileged container, if any). ` +
        `What was said:\n${tailOf(name)}`,
    );
  }
}

const ip = (commands) => run(['ip', '-batch', '-'], { input: commands.join('\n') });
const ipIn = (pid, commands) => run([...inside(pid, 'net'), 'ip', '-batch', '-'], { input: commands.join('\n') });
