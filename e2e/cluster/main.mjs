// The command line of scripts/cluster.
import * as elsewhere from './elsewhere.mjs';
import { Failure, Unsupported } from './failure.mjs';
import { listenForInterruption } from './interruption.mjs';
import * as local from './local.mjs';

const usage = `A real Kubernetes on this machine, for tests.

  scripts/cluster up [--nodes N | --fake N]   start one: with N real nodes (2 unless you say), or N fake ones
  scripts/cluster down                        end it and remove everything of it
  scripts/cluster stop-kubelet N              node-N goes silent; its containers go on
  scripts/cluster crash-node N                node-N loses its power
  scripts/cluster start-kubelet N             node-N is back, after either
  scripts/cluster kubeconfig                  print the path of its kubeconfig

Environment:
  OME_CLUSTER         kind: let kind make the cluster; current: use the one that KUBECONFIG names, as it is
  OME_CLUSTER_DIR     where the cluster lives (/tmp/ome-native-cluster)
  OME_CLUSTER_PORT    the API server's port; the next five are used too (6443)
  OME_CLUSTER_CACHE   where built programs are kept (~/.cache/ome-cluster)
  KUBEBUILDER_ASSETS  a folder with etcd, kube-apiserver and kubectl to use instead of building them

The exit code is 1 when something went wrong, and 3 when this machine lacks what is needed.
`;

const say = (sentence) => console.error(sentence);

function parseShape(args) {
  const [option, value, ...rest] = args.length > 0 ? args : ['--nodes', '2'];
  const count = Number(value);
  const kind = { '--nodes': 'nodes', '--fake': 'fake' }[option];
  if (kind === undefined || rest.length > 0 || !Number.isInteger(count) || count < 1) {
    throw new Failure(`Cannot understand 'up ${args.join(' ')}'. Write for example 'up --nodes 2' or 'up --fake 20'.`);
  }
  return { nodes: 0, fake: 0, [kind]: count };
}

function parseNode(args) {
  const n = Number(args[0]);
  if (args.length !== 1 || !Number.isInteger(n) || n < 1) throw new Failure('Say which node: a number, from 1.');
  return n;
}

/** The cluster that OME_CLUSTER asks for; each offers the same operations. */
function chooseCluster() {
  const choice = process.env['OME_CLUSTER'] ?? '';
  const known = { '': local, kind: elsewhere.kind, current: elsewhere.current };
  const cluster = known[choice];
  if (cluster === undefined) throw new Failure(`OME_CLUSTER is '${choice}': write kind or current, or leave it out.`);
  return cluster;
}

const commands = {
  up: async (cluster, args) => {
    await cluster.up(parseShape(args), say);
    console.log(`export KUBECONFIG=${cluster.kubeconfig()}`);
  },
  down: (cluster) => cluster.down(say),
  'stop-kubelet': (cluster, args) => cluster.stopKubelet(parseNode(args), say),
  'start-kubelet': (cluster, args) => cluster.startKubelet(parseNode(args), say),
  'crash-node': (cluster, args) => cluster.crashNode(parseNode(args), say),
  kubeconfig: (cluster) => console.log(cluster.kubeconfig()),
  help: () => console.log(usage),
};

async function main([name = 'help', ...args]) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new Failure(`There is no command '${name}'.\n\n${usage}`);
  await command(chooseCluster(), args);
}

listenForInterruption();
try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  console.error(`scripts/cluster: ${error.message}`);
  process.exitCode = error instanceof Unsupported ? 3 : 1;
}
