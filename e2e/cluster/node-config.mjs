// The configuration of what runs on a real node. Paths are as the node sees them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pauseImage } from './images.mjs';
import { file, networks } from './settings.mjs';

const containerdSocket = '/run/containerd/containerd.sock';

/** Where distributions put the CNI plugins. */
export const cniFolders = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

/** @returns {string} the path of the file written for containerd on node `n` */
export function writeContainerdConfig(n) {
  const network = {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: networks.podsOf(n) }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: '/run/cni', // Addresses are free again after a crash.
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  const networkFile = write(n, 'cni/10-pods.conflist', JSON.stringify(network, undefined, 2));
  const plugins = cniFolders.find((folder) => existsSync(path.join(folder, 'bridge'))) ?? cniFolders[0];
  return write(
    n,
    'containerd.toml',
    `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
  address = "${containerdSocket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${path.dirname(networkFile)}"

  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`,
  );
}

/** @returns {string} the path of the file written for the kubelet of node `n` */
export function writeKubeletConfig(n) {
  return writeJson(n, 'kubelet.json', {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Only this machine and the pods can reach the kubelet.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    address: networks.node(n),
    readOnlyPort: 0,
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    clusterDomain: 'cluster.local',
    clusterDNS: [networks.dns],
    resolvConf: '',
    // Nodes share one machine, whatever its version of control groups, so they reserve and enforce nothing.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    // A full disk or many images on this machine are not the cluster's business.
    evictionHard: { 'memory.available': '50Mi' },
    imageGCHighThresholdPercent: 100,
    imageMinimumGCAge: '24h',
    // A silent node is noticed within seconds.
    nodeLeaseDurationSeconds: 8,
    nodeStatusUpdateFrequency: '3s',
    syncFrequency: '5s',
  });
}

/** @returns {string} the path of the file written for kube-proxy on node `n` */
export function writeKubeProxyConfig(n) {
  return writeJson(n, 'kube-proxy.json', {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: file('kube-proxy.kubeconfig') },
    mode: 'iptables',
    // Traffic follows the endpoints within the second, even where many tests share the machine.
    iptables: { minSyncPeriod: '100ms' },
    hostnameOverride: `node-${n}`,
    clusterCIDR: networks.pods,
    // These limits are the machine's, and a node may not set them.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  });
}

const writeJson = (n, name, value) => write(n, name, JSON.stringify(value, undefined, 2));

function write(n, name, text) {
  const target = file(`node-${n}`, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text.endsWith('\n') ? text : `${text}\n`);
  return target;
}
