// etcd, the API server, the controllers and the scheduler: processes of this machine.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { ask } from './api.mjs';
import { Failure } from './failure.mjs';
import { find, start, started, tailOf } from './processes.mjs';
import { file, kubeconfig, networks, ports } from './settings.mjs';

/**
 * Starts the control plane and returns when it answers.
 *
 * @param {{ host: string, nodes: number }} shape the address to listen on, and how many real nodes will join
 * @param {Record<string, string>} programs
 * @returns {Promise<{ host: string, nodes: number, adminToken: string }>}
 * @throws {Failure} with the last lines of its log, when a part does not start
 */
export async function startControlPlane(shape, programs) {
  writeServiceAccountKey();
  const cluster = { ...shape, adminToken: writeIdentities(shape) };
  await startEtcd(programs);
  await startApiServer(cluster, programs);
  await startControllers(cluster, programs);
  return cluster;
}

function writeServiceAccountKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(file('service-accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
}

/** Gives everyone who talks to the API server a token of its own and a kubeconfig; returns the administrator's token. */
function writeIdentities({ host, nodes }) {
  const identities = [
    { file: kubeconfig, user: 'admin', groups: ['system:masters'] },
    { file: file('controller-manager.kubeconfig'), user: 'system:kube-controller-manager', groups: [] },
    { file: file('scheduler.kubeconfig'), user: 'system:kube-scheduler', groups: [] },
    { file: file('kube-proxy.kubeconfig'), user: 'system:kube-proxy', groups: [] },
  ];
  for (let n = 1; n <= nodes; n++) {
    const user = `system:node:node-${n}`;
    identities.push({ file: file(`node-${n}.kubeconfig`), user, groups: ['system:nodes'] });
  }
  const tokens = identities.map((identity) => ({ ...identity, token: randomBytes(16).toString('hex') }));
  const lines = tokens.map(({ user, groups, token }) => `${token},${user},${user},"${groups.join(',')}"\n`);
  writeFileSync(file('tokens.csv'), lines.join(''), { mode: 0o600 });
  for (const { file: name, user, token } of tokens) {
    writeFileSync(name, kubeconfigText(host, user, token), { mode: 0o600 });
  }
  return tokens[0].token;
}

/** JSON is YAML, and needs no library. */
function kubeconfigText(host, user, token) {
  const server = `https://${host}:${ports.api}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'ome', cluster: { server, 'certificate-authority': file('certs', 'apiserver.crt') } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'ome', context: { cluster: 'ome', user } }],
    'current-context': 'ome',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

const etcdUrl = `http://127.0.0.1:${ports.etcd}`;

async function startEtcd(programs) {
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  await start('etcd', [
    programs['etcd'],
    `--data-dir=${file('etcd')}`,
    '--unsafe-no-fsync', // Nothing here outlives the cluster.
    '--log-level=error',
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]);
}

async function startApiServer(cluster, programs) {
  await start('kube-apiserver', [
    programs['kube-apiserver'],
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${cluster.host}`,
    `--advertise-address=${cluster.host}`,
    `--secure-port=${ports.api}`,
    `--cert-dir=${file('certs')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    `--service-account-key-file=${file('service-accounts.key')}`,
    `--service-account-signing-key-file=${file('service-accounts.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${networks.services}`,
    // Pods of real nodes reach the API server through the Service `kubernetes`; loopback cannot be its endpoint.
    `--endpoint-reconciler-type=${cluster.nodes > 0 ? 'lease' : 'none'}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--allow-privileged=true',
    // Tests measure the controller, not the server's protection of itself.
    '--max-requests-inflight=2000',
    '--max-mutating-requests-inflight=1000',
  ]);
  await started('kube-apiserver', 'the API server is ready', async () => {
    if (!find('etcd')) throw new Failure(`etcd ended:\n${tailOf('etcd')}`);
    return (await ask(cluster, 'GET', '/readyz')).status === 200;
  });
}

async function startControllers(cluster, programs) {
  const local = ['--bind-address=127.0.0.1', `--cert-dir=${file('certs')}`, '--leader-elect=false'];
  const unlimited = ['--kube-api-qps=1000', '--kube-api-burst=1000'];
  await start('kube-controller-manager', [
    programs['kube-controller-manager'],
    `--kubeconfig=${file('controller-manager.kubeconfig')}`,
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${file('service-accounts.key')}`,
    `--root-ca-file=${file('certs', 'apiserver.crt')}`,
    // A silent node is NotReady after 10 s, not 40. Fake ones are never silent on purpose, and renew every 10 s when all is well.
    `--node-monitor-grace-period=${cluster.nodes > 0 ? 10 : 40}s`,
    '--node-monitor-period=1s',
    `--flex-volume-plugin-dir=${file('volume-plugins')}`,
    '--cluster-signing-cert-file=',
    '--cluster-signing-key-file=',
    `--secure-port=${ports.controllerManager}`,
    ...local,
    ...unlimited,
  ]);
  await start('kube-scheduler', [
    programs['kube-scheduler'],
    `--kubeconfig=${file('scheduler.kubeconfig')}`,
    `--secure-port=${ports.scheduler}`,
    ...local,
    ...unlimited,
  ]);
}
