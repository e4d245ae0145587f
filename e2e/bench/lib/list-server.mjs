// A process that answers watches as an API server does which holds many pods of ours and nothing else. It is forked by
// `cache`, so that what it takes is not counted as the cache's; its first message is its port.
import { createServer } from 'node:http';

const count = Number(process.argv[2]);
const at = '2026-01-01T00:00:00Z';
const version = '100000000';

const variable = (name, value) => ({ name, value });

const field = (names) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
const written = (manager, fieldsV1, subresource) => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: at,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});

/** What four writers leave in the metadata of every pod: the larger half of it. */
function managedFields() {
  const condition = (type) => ({
    [`k:{"type":"${type}"}`]: {
      '.': {},
      ...field(['lastProbeTime', 'lastTransitionTime', 'message', 'reason', 'status', 'type']),
    },
  });
  const variables = ['POD_NAME', 'OME_INSTANCE_INDEX', 'OME_LEADER_ADDRESS', 'OME_POD_COUNT', 'OME_POD_RANK'];
  const created = {
    'f:metadata': {
      'f:generateName': {},
      'f:labels': field(Object.keys(labelsOf(0))),
      'f:ownerReferences': { 'k:{"uid":"7f8a1c1e-0000-4000-8000-000000000000"}': {} },
    },
    'f:spec': {
      'f:containers': {
        'k:{"name":"ome-container"}': {
          '.': {},
          ...field([
            'image',
            'imagePullPolicy',
            'name',
            'resources',
            'terminationMessagePath',
            'terminationMessagePolicy',
          ]),
          'f:env': Object.fromEntries(
            variables.map((name) => [`k:{"name":"${name}"}`, { '.': {}, ...field(['name', 'value']) }]),
          ),
          'f:ports': {
            'k:{"containerPort":8080,"protocol":"TCP"}': { '.': {}, ...field(['containerPort', 'name', 'protocol']) },
          },
        },
      },
      ...field([
        'dnsPolicy',
        'enableServiceLinks',
        'hostname',
        'readinessGates',
        'restartPolicy',
        'schedulerName',
        'subdomain',
      ]),
    },
  };
  const gate = { 'f:status': { 'f:conditions': condition('ome.io/serving') } };
  const kubelet = {
    'f:status': {
      'f:conditions': Object.assign({}, ...['ContainersReady', 'Initialized', 'Ready'].map(condition)),
      ...field(['containerStatuses', 'hostIP', 'hostIPs', 'phase', 'podIP', 'podIPs', 'startTime']),
    },
  };
  return [
    written('ome-controller-manager', created),
    written('kube-scheduler', { 'f:status': { 'f:conditions': condition('PodScheduled') } }, 'status'),
    written('kubelet', kubelet, 'status'),
    written('ome-controller-manager', gate, 'status'),
  ];
}

function labelsOf(gang) {
  return {
    'app.kubernetes.io/name': 'chat',
    component: 'engine',
    'ome.io/incarnation': '1',
    'ome.io/inferenceservice': 'chat',
    'ome.io/instance-index': String(gang),
    'ome.io/managed-by': 'OMENative',
    'ome.io/pod-ordinal': '0',
    'ome.io/revision-hash': '0a1b2c3d',
  };
}

/** A pod of a gang that serves, as the API server sends it: about 6 kB. */
function pod(number) {
  const gang = number >> 1;
  const runner = number % 2 === 0 ? 'leader' : 'worker';
  const name = `chat-engine-${gang}-${runner}-0`;
  const condition = (type, more) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: at, ...more });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'prod',
      uid: `7f8a1c1e-0000-4000-8000-${String(number).padStart(12, '0')}`,
      resourceVersion: String(10_000_000 + number),
      creationTimestamp: at,
      labels: { ...labelsOf(gang), 'ome.io/runner': runner },
      annotations: { 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          apiVersion: 'ome.io/v1beta1',
          kind: 'InferenceReplica',
          name: 'chat-engine',
          uid: '7f8a1c1e-0000-4000-8000-000000000000',
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
      managedFields: managedFields(),
    },
    spec: {
      containers: [
        {
          name: 'ome-container',
          image: 'docker.io/lmsysorg/sglang:v0.5.2-cu126',
          command: ['python3', '-m', 'sglang.launch_server', '--model-path', '$(MODEL_PATH)', '--tp-size', '8'],
          env: [
            variable('POD_NAME', name),
            variable('OME_INSTANCE_INDEX', String(gang)),
            variable('OME_LEADER_ADDRESS', `chat-engine-${gang}-leader-0.chat-engine-headless`),
            variable('OME_POD_COUNT', '2'),
            variable('OME_POD_RANK', String(number % 2)),
          ],
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          resources: {
            limits: { 'nvidia.com/gpu': '8' },
            requests: { cpu: '10', memory: '64Gi', 'nvidia.com/gpu': '8' },
          },
          volumeMounts: [
            { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
          ],
        },
      ],
      dnsPolicy: 'ClusterFirst',
      hostname: `chat-engine-${gang}-${runner}-0`,
      subdomain: 'chat-engine-headless',
      nodeName: `gpu-${gang % 500}`,
      readinessGates: [{ conditionType: 'ome.io/serving' }],
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 600,
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
    },
    status: {
      phase: 'Running',
      conditions: [
        condition('ome.io/serving', { reason: 'Serving', message: '[]' }),
        ...['Initialized', 'ContainersReady', 'PodScheduled', 'Ready'].map((type) => condition(type)),
      ],
      hostIP: '10.1.2.3',
      podIP: '10.128.4.5',
      podIPs: [{ ip: '10.128.4.5' }],
      startTime: at,
      containerStatuses: [
        {
          name: 'ome-container',
          image: 'docker.io/lmsysorg/sglang:v0.5.2-cu126',
          imageID: `docker.io/lmsysorg/sglang@sha256:${'0123456789abcdef'.repeat(4)}`,
          containerID: `containerd://${String(number).padStart(64, '0')}`,
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: at } },
          lastState: {},
        },
      ],
      qosClass: 'Burstable',
    },
  };
}

const end = { 'k8s.io/initial-events-end': 'true' };
const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: version, annotations: end } } };

const pods = Array.from(
  { length: count },
  (_, number) => `${JSON.stringify({ type: 'ADDED', object: pod(number) })}\n`,
);

/** Sends lines as fast as they are taken, and leaves the stream open. */
async function stream(response, lines) {
  for (const line of lines) {
    if (!response.write(line)) await new Promise((resolve) => response.once('drain', resolve));
  }
}

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const { pathname } = new URL(request.url, 'http://localhost');
  void stream(response, [...(pathname === '/api/v1/pods' ? pods : []), `${JSON.stringify(bookmark)}\n`]);
});
server.listen(0, '127.0.0.1', () => {
  const podBytes = Math.round(pods.reduce((sum, line) => sum + line.length, 0) / count);
  process.send({ port: server.address().port, podBytes });
});
process.once('disconnect', () => process.exit());
