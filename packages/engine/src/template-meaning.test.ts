import { describe, expect, it } from '@jest/globals';
import { asRecord, isRecord, type JsonRecord } from '@omenative/api';
import fc from 'fast-check';
import type { RevisionPayload } from './snapshot.js';
import { meaningOf } from './template-meaning.js';

const payloadOf = (template: unknown): RevisionPayload => ({ runners: [{ name: 'default', size: 1, template }] });
const meaning = (template: unknown): string => meaningOf(payloadOf(template));
const container = { name: 'main', image: 'registry:5000/engine:1' };
const withContainer = (more: JsonRecord): JsonRecord => ({ spec: { containers: [{ ...container, ...more }] } });
const withSpec = (more: JsonRecord): JsonRecord => ({ spec: { containers: [container], ...more } });

/** A template, and the same as another writer would have it. */
const alike: readonly (readonly [what: string, as: unknown, is: unknown])[] = [
  [
    'defaults of a container',
    withContainer({}),
    withContainer({
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      resources: {},
    }),
  ],
  [
    'the pull policy of a moving tag',
    { spec: { containers: [{ image: 'engine' }, { image: 'engine:latest' }] } },
    {
      spec: {
        containers: [
          { image: 'engine', imagePullPolicy: 'Always' },
          { image: 'engine:latest', imagePullPolicy: 'Always' },
        ],
      },
    },
  ],
  [
    'a port',
    withContainer({ ports: [{ containerPort: 1 }] }),
    withContainer({ ports: [{ containerPort: 1, protocol: 'TCP' }] }),
  ],
  [
    'a probe',
    withContainer({ readinessProbe: { httpGet: { port: 1 } } }),
    withContainer({
      readinessProbe: {
        httpGet: { port: 1, path: '/', scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    }),
  ],
  [
    'an empty value and a reference to a field',
    withContainer({
      env: [
        { name: 'A', value: '' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'x' } } },
      ],
    }),
    withContainer({
      env: [{ name: 'A' }, { name: 'B', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'x' } } }],
    }),
  ],
  [
    'references whose name a schema defaults',
    withContainer({ envFrom: [{ configMapRef: {} }] }),
    withContainer({ envFrom: [{ configMapRef: { name: '' } }] }),
  ],
  [
    'quantities',
    withContainer({ resources: { limits: { cpu: 1, memory: '2Gi', 'nvidia.com/gpu': '8' } } }),
    withContainer({ resources: { limits: { cpu: '1000m', memory: '2048Mi', 'nvidia.com/gpu': 8 } } }),
  ],
  [
    'defaults of a pod',
    withSpec({}),
    withSpec({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      hostNetwork: false,
    }),
  ],
  [
    'what is empty',
    withSpec({}),
    withSpec({ tolerations: [], nodeSelector: {}, affinity: { podAffinity: {} }, volumes: null }),
  ],
  [
    'volumes',
    withSpec({
      volumes: [{ name: 'a', configMap: { name: 'a' } }, { name: 'b', hostPath: { path: '/' } }, { name: 'c' }],
    }),
    withSpec({
      volumes: [
        { name: 'a', configMap: { name: 'a', defaultMode: 420 } },
        { name: 'b', hostPath: { path: '/', type: '' } },
        { name: 'c', emptyDir: {} },
      ],
    }),
  ],
  ['metadata', withSpec({}), { metadata: { creationTimestamp: null, labels: {}, annotations: null }, ...withSpec({}) }],
  ['labels of the place', withSpec({}), { metadata: { labels: { 'ome.io/runner': 'default' } }, ...withSpec({}) }],
  [
    'labels that another version adds',
    withSpec({}),
    { metadata: { labels: { 'base-model-size': '7B', 'serving-runtime': 'echo' } }, ...withSpec({}) },
  ],
  [
    'the name of the main container',
    { spec: { containers: [{ image: 'a:1' }] } },
    { spec: { containers: [{ image: 'a:1', name: 'ome-container' }] } },
  ],
];

/** Two templates that make different pods, however little the texts differ. */
const unlike: readonly (readonly [what: string, one: unknown, other: unknown])[] = [
  ['an image', withContainer({}), withContainer({ image: 'registry:5000/engine:2' })],
  ['a pull policy', withContainer({}), withContainer({ imagePullPolicy: 'Always' })],
  ['the order of arguments [B19]', withContainer({ args: ['a', 'b'] }), withContainer({ args: ['b', 'a'] })],
  [
    'the order of variables',
    withContainer({ env: [{ name: 'A' }, { name: 'B' }] }),
    withContainer({ env: [{ name: 'B' }, { name: 'A' }] }),
  ],
  [
    'a changed probe default [B20]',
    withContainer({ livenessProbe: {} }),
    withContainer({ livenessProbe: { timeoutSeconds: 2 } }),
  ],
  [
    'a security context [B20]',
    withContainer({}),
    withContainer({ securityContext: { allowPrivilegeEscalation: false } }),
  ],
  [
    'an amount',
    withContainer({ resources: { limits: { cpu: '1' } } }),
    withContainer({ resources: { limits: { cpu: '1001m' } } }),
  ],
  ['a resource of nothing', withContainer({ resources: { limits: { gpu: '0' } } }), withContainer({ resources: {} })],
  ['a selector with an empty value', withSpec({ nodeSelector: { gpu: '' } }), withSpec({})],
  ['no token', withSpec({ automountServiceAccountToken: false }), withSpec({})],
  ['no grace', withSpec({ terminationGracePeriodSeconds: 0 }), withSpec({})],
  [
    'a volume that is empty',
    withSpec({ volumes: [{ name: 'a', emptyDir: {} }] }),
    withSpec({ volumes: [{ name: 'a', secret: {} }] }),
  ],
  [
    'a selector of everything',
    withSpec({ topologySpreadConstraints: [{ labelSelector: {} }] }),
    withSpec({ topologySpreadConstraints: [{}] }),
  ],
  [
    'a port that is named like a number',
    withContainer({ ports: [{ name: '1' }] }),
    withContainer({ ports: [{ name: 1 }] }),
  ],
  ['a label', { metadata: { labels: { a: '' } }, ...withSpec({}) }, withSpec({})],
  ['an annotation', { metadata: { annotations: { a: 'b' } }, ...withSpec({}) }, withSpec({})],
];

describe('the meaning of a template', () => {
  it.each(alike)('overlooks another text for %s [B18]', (_, as, is) => {
    expect(meaning(is)).toBe(meaning(as));
  });

  it.each(unlike)('sees %s', (_, one, other) => {
    expect(meaning(one)).not.toBe(meaning(other));
  });

  it('sees what is around the templates', () => {
    const runners: RevisionPayload['runners'] = [
      { name: 'leader', size: 1, template: withSpec({}) },
      { name: 'worker', size: 2, template: withSpec({}) },
    ];
    const bigger = runners.map((runner) => (runner.name === 'worker' ? { ...runner, size: 3 } : runner));
    const texts = [
      { runners },
      { runners: bigger },
      { runners, topologyKey: 'rack' },
      { runners, pairingProtocol: 'kv' },
      payloadOf(withSpec({})),
    ].map(meaningOf);
    expect(new Set(texts).size).toBe(texts.length);
    expect(meaningOf({ ...payloadOf(withSpec({})), topologyKey: 'rack' })).toBe(meaning(withSpec({})));
  });
});

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

function pullPolicyOf(image: unknown): string {
  return image === 'engine' || image === 'registry:5000/engine' ? 'Always' : 'IfNotPresent';
}

/** Other spellings of the same amounts and numbers. */
function respelled(text: string): string {
  return text
    .replace(/"cpu":"(\d+)"/g, (_, cores: string) => `"cpu":"${Number(cores) * 1000}m"`)
    .replace(/"memory":"(\d+)Gi"/g, (_, gi: string) => `"memory":"${Number(gi) * 1024}Mi"`)
    .replace(/"containerPort":(\d+)/g, (_, port: string) => `"containerPort":${port}.0`);
}

/** What a server may fill in, each time that the coin says so. */
function filled(key: string, value: JsonRecord, coin: () => boolean): JsonRecord {
  if (!coin()) return {};
  switch (key) {
    case 'spec':
      return {
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        terminationGracePeriodSeconds: 30,
      };
    case 'containers':
      return { resources: {}, terminationMessagePolicy: 'File', imagePullPolicy: pullPolicyOf(value['image']) };
    case 'ports':
      return { protocol: 'TCP' };
    case 'env':
      return { value: '' };
    case 'readinessProbe':
      return { periodSeconds: 10, failureThreshold: 3 };
    case 'httpGet':
      return { path: '/', scheme: 'HTTP' };
    case 'metadata':
      return { creationTimestamp: null };
    default:
      return {};
  }
}

/** How the template comes back when another writer, or the server, has had it. Each coin decides one liberty taken. */
function rewritten(value: unknown, coin: () => boolean, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => rewritten(item, coin, key));
  if (!isRecord(value)) return value;
  const members = Object.entries({ ...filled(key, value, coin), ...value })
    .filter(([, member]) => member !== undefined)
    .map(([member, of]) => [member, rewritten(of, coin, member)] as const);
  const ordered = coin() ? members.toReversed() : members;
  const isMap = ['labels', 'nodeSelector', 'limits'].includes(key);
  return Object.fromEntries(coin() && !isMap ? [...ordered, ['unset', null], ['none', []]] : ordered);
}

describe('any template, written down by anybody', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const count = fc.integer({ min: 1, max: 64 });
  const probe = fc.record({
    periodSeconds: optional(count),
    httpGet: fc.record({ port: count, path: optional(name) }),
  });
  const anyContainer = fc.record({
    name,
    image: fc.constantFrom('engine', 'engine:1', 'registry:5000/engine', 'engine@sha256:0'),
    args: optional(fc.array(name, { maxLength: 3 })),
    env: optional(fc.array(fc.record({ name, value: optional(fc.constantFrom('', 'x')) }), { maxLength: 2 })),
    ports: optional(fc.array(fc.record({ containerPort: count }), { maxLength: 2 })),
    resources: optional(
      fc.record({ limits: fc.record({ cpu: count.map(String), memory: count.map((n) => `${n}Gi`) }) }),
    ),
    readinessProbe: optional(probe),
  });
  const template = fc
    .record({
      labels: optional(fc.dictionary(name, name, { maxKeys: 2 })),
      containers: fc.array(anyContainer, { minLength: 1, maxLength: 2 }),
      nodeSelector: optional(fc.dictionary(name, fc.constantFrom('', 'x'), { maxKeys: 2 })),
      terminationGracePeriodSeconds: optional(fc.integer({ min: 0, max: 60 })),
      volumes: optional(fc.array(fc.record({ name, emptyDir: fc.constant({}) }), { maxLength: 2 })),
    })
    .map(({ labels, ...spec }) => ({ metadata: { labels }, spec }));

  it('means the same [B18]', () => {
    fc.assert(
      fc.property(template, fc.infiniteStream(fc.boolean()), (original, coins) => {
        const coin = (): boolean => coins.next().value === true;
        const other: unknown = JSON.parse(respelled(JSON.stringify(rewritten(original, coin))));
        expect(meaning(other)).toBe(meaning(original));
      }),
      { numRuns: 300 },
    );
  });

  it('means something else once anything in it is another', () => {
    const changes: readonly ((template: { spec: JsonRecord }) => JsonRecord)[] = [
      ({ spec }) => ({ spec: { ...spec, terminationGracePeriodSeconds: 61 } }),
      ({ spec }) => ({ spec: { ...spec, nodeSelector: { ...asRecord(spec['nodeSelector']), z: '' } } }),
      ({ spec }) => ({ spec: { ...spec, containers: [...(spec['containers'] as []), { name: 'z', image: 'z' }] } }),
    ];
    fc.assert(
      fc.property(template, fc.constantFrom(...changes), (original, change) => {
        expect(meaning({ ...original, ...change(original) })).not.toBe(meaning(original));
      }),
      { numRuns: 100 },
    );
  });
});
