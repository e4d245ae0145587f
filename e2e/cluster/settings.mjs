// Where a cluster lives and which addresses it uses: the one place for paths, ports and networks.
import { homedir } from 'node:os';
import path from 'node:path';

/** Everything a cluster with real nodes may occupy; `up` refuses when the machine already uses a part of it. */
export const networks = {
  all: '10.244.0.0/14',
  pods: '10.244.0.0/16',
  nodes: '10.245.0.0/24',
  services: '10.246.0.0/16',
  /** The machine's own end of the nodes' network; the API server listens on it. */
  host: '10.245.0.1',
  /** The hub that joins the nodes; CoreDNS answers on it. */
  dns: '10.245.0.2',
  /** The address of node `n`, counted from 1. */
  node: (n) => `10.245.0.${10 + n}`,
  /** The network of the pods on node `n`. */
  podsOf: (n) => `10.244.${n}.0/24`,
};

/** The most real nodes of one cluster: what the addresses above have room for. */
export const maxNodes = 100;

/** The name of the network interface that a cluster with real nodes adds to the machine. */
export const hostInterface = 'ome0';

/** Folders that a node sees its own version of, so nothing that a node needs may lie in them. */
export const hiddenFromNodes = ['/run', '/var/run', '/var/lib', '/var/log'];

const cacheRoot =
  process.env['OME_CLUSTER_CACHE'] ??
  path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'ome-cluster');

/** The folder for programs built for Kubernetes `version`, such as `v1.34.4`. */
export const cacheOf = (version) => path.join(cacheRoot, version, 'bin');

/** The cluster's folder. It holds the kubeconfig, the logs and all state; `down` removes it. */
export const dir = path.resolve(process.env['OME_CLUSTER_DIR'] ?? '/tmp/ome-native-cluster');

/** The path of a file of the cluster. */
export const file = (...parts) => path.join(dir, ...parts);

/** The kubeconfig of the cluster's administrator. */
export const kubeconfig = file('kubeconfig');

const port = Number(process.env['OME_CLUSTER_PORT'] ?? 6443);

/** TCP ports. All but the API server's are on 127.0.0.1. */
export const ports = {
  api: port,
  etcd: port + 1,
  etcdPeer: port + 2,
  controllerManager: port + 3,
  scheduler: port + 4,
  kwok: port + 5,
};
