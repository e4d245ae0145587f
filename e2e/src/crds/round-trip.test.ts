/** Whatever the schemas name is stored as it was written, under strict validation; only defaults are added. */
import { expect, it } from '@jest/globals';
import { applyDefaults, crds, type Kind, type Kinds, type StructuralSchema, validate } from '@omenative/api';
import { describeOnApiServer, messageOf } from './testing/api-server.js';
import { exampleOf, fieldsOf, type Variation } from './testing/example.js';

const roles = ['spec.engine', 'spec.decoder', 'spec.router'] as const;
const each = (...fields: readonly string[]): string[] =>
  roles.flatMap((role) => fields.map((field) => `${role}.${field}`));
const group = 'spec.rollout.groups[]';
const spelledOut = {
  ...Object.fromEntries(
    roles.flatMap((role) => [
      [`${role}.minReplicas`, 2],
      [`${role}.maxReplicas`, 3],
    ]),
  ),
  'spec.traffic.algorithm': 'ConsistentHash',
  [`${group}.components`]: ['engine', 'decoder', 'router'],
  [`${group}.order`]: [],
  [`${group}.canary.steps[].traffic`]: 100,
  [`${group}.canary.steps[].capacity`]: '100%',
  'spec.routing.probe.timeout': '10s',
  'spec.routing.capacity.timeout': '10s',
};
/** What a poll that is switched off may not have. */
const polls = ['probe', 'capacity'] as const;
const pollFields =
  'path method period timeout acceptStatuses gateStatuses failureThreshold successThreshold allFailedPolicy format options samples quorum maxAge'.split(
    ' ',
  );

const services: readonly Variation[] = [
  {
    omit: [
      'spec.replicaRefs',
      ...each('maxUnavailable'),
      `${group}.blueGreen`,
      `${group}.rollingUpdate`,
      `${group}.canary.prometheus.serverAddress`,
      'spec.routing.probe.disabled',
      'spec.routing.capacity.disabled',
    ],
    values: spelledOut,
  },
  {
    omit: [
      'spec.replicaRefs',
      ...each('minAvailable'),
      `${group}.blueGreen`,
      `${group}.rollingUpdate`,
      `${group}.canary.prometheus.providerRef`,
      ...polls.flatMap((poll) => pollFields.map((field) => `spec.routing.${poll}.${field}`)),
    ],
    values: spelledOut,
  },
  {
    omit: ['spec.replicaRefs', ...each('minAvailable'), `${group}.canary`, `${group}.rollingUpdate`],
    values: { ...spelledOut, 'spec.routing': { enabled: false } },
  },
  {
    omit: ['spec.replicaRefs', ...each('minAvailable'), `${group}.canary`, `${group}.blueGreen`],
    values: { ...spelledOut, 'spec.routing': { enabled: false } },
  },
  {
    omit: [
      ...roles,
      'spec.rollout',
      'spec.model',
      'spec.runtime',
      'spec.scalingPolicy',
      'spec.acceleratorSelector',
      'spec.placement',
      'spec.routing',
    ],
    values: {
      ...spelledOut,
      'spec.replicaRefs.engine': ['pool-a'],
      'spec.replicaRefs.decoder': ['pool-b'],
      'spec.replicaRefs.router': ['pool-c'],
    },
  },
];

/** No replica may pin a runtime, yet the reference has the field. */
const pin = 'spec.runtimeRef.revision';
const replicas: readonly Variation[] = [
  { omit: ['spec.modelRef', 'spec.runtimeRef', 'status.instanceStatusEncoding', 'status.instanceStatusColumns'] },
  {
    omit: [
      'spec.parentRef',
      'spec.runners',
      'spec.lifecycle.minReadySeconds',
      'spec.placementExecution',
      'spec.placementReplicaLimit',
      pin,
      'status.instanceStatuses',
    ],
    values: { 'spec.autoscaler.class': 'External' },
  },
];

const variations: Readonly<Record<Kind, readonly Variation[]>> = {
  InferenceService: services,
  InferenceReplica: replicas,
  ServingRuntime: [{}],
  ClusterServingRuntime: [{}],
  BaseModel: [{}],
  ClusterBaseModel: [{}],
};

interface Case {
  readonly kind: Kind;
  readonly plural: string;
  readonly name: string;
  readonly spec: unknown;
  readonly status: unknown;
}

const used = new Set<string>();

function rootOf(kind: string): StructuralSchema {
  const crd = crds.find((one) => one.spec.names.kind === kind);
  if (!crd) throw new Error(`no CRD of kind ${kind}`);
  return crd.spec.versions[0].schema.openAPIV3Schema;
}

const cases: readonly Case[] = crds.flatMap((crd) => {
  const kind = crd.spec.names.kind as Kind;
  const { spec = {}, status = {} } = rootOf(kind).properties ?? {};
  return variations[kind].map((variation, index) => {
    const mine = new Set<string>();
    const made = {
      kind,
      plural: crd.spec.names.plural,
      name: `everything-${index}`,
      spec: exampleOf(spec, 'spec', variation, mine),
      status: exampleOf(status, 'status', variation, mine),
    };
    for (const path of mine) used.add(`${kind}.${path}`);
    return made;
  });
});

describeOnApiServer('a manifest with every field', (server) => {
  it.each(cases.map((one) => [one.kind, one.name, one] as const))(
    '%s %s is kept as written',
    async (kind, name, one) => {
      const sent = { apiVersion: 'ome.io/v1beta1', kind, metadata: { name }, spec: one.spec };
      expect(validate(kind, sent)).toEqual([]);
      await server.delete(one.plural, name);
      const created = await server.create(one.plural, sent);
      expect(messageOf(created)).toBe('');
      expect(created.body['spec']).toEqual(applyDefaults(kind, sent as unknown as Kinds[Kind]).spec);
    },
  );

  it.each(cases.map((one) => [one.kind, one.name, one] as const))(
    'the status of %s %s too',
    async (kind, name, one) => {
      const { body } = await server.get(one.plural, name);
      const written = await server.request('PUT', server.path(one.plural, `${name}/status`), {
        body: { ...body, status: one.status },
        query: { fieldValidation: 'Strict' },
      });
      expect(messageOf(written)).toBe('');
      const whole = { metadata: { name }, spec: one.spec, status: one.status };
      expect(validate(kind, whole)).toEqual([]);
      expect(written.body['status']).toEqual(one.status);
    },
  );

  it('leaves no field out', () => {
    const all = Object.keys(variations).flatMap((kind) =>
      ['spec', 'status'].flatMap((part) => {
        const schema = rootOf(kind).properties?.[part];
        return schema ? [...fieldsOf(schema, `${kind}.${part}`)] : [];
      }),
    );
    expect(all.filter((path) => !used.has(path))).toEqual([`InferenceReplica.${pin}`]);
  });
});
