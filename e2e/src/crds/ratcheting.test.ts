/** Objects that were stored before a rule was made: they can be read, labelled and deleted, and put right. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type CustomResourceDefinition, crds } from '@omenative/api';
import { describeOnApiServer, messageOf, type Reply } from './testing/api-server.js';

const plural = 'inferencereplicas';
const template = { spec: { containers: [{ name: 'main', image: 'vllm:1' }] } };
const replica = {
  kind: 'InferenceReplica',
  spec: { component: 'engine', replicas: 2, runners: [{ name: 'default', size: 1, template }] },
};

/** The InferenceReplica definition under a name of this test's own, so that its rules can be taken away for a while. */
function copyOf(crd: CustomResourceDefinition): CustomResourceDefinition {
  const group = 'ratchet.ome.test';
  return {
    ...crd,
    metadata: { name: `${crd.spec.names.plural}.${group}` },
    spec: { ...crd.spec, group },
  };
}

function withoutRules(crd: CustomResourceDefinition): CustomResourceDefinition {
  return JSON.parse(
    JSON.stringify(crd, (key, value: unknown) => (key === 'x-kubernetes-validations' ? undefined : value)),
  ) as CustomResourceDefinition;
}

describeOnApiServer('an object that is older than the rules', (server) => {
  const definition = crds.find(({ spec }) => spec.names.kind === 'InferenceReplica');
  if (!definition) throw new Error('the InferenceReplica definition is missing');
  const strict = copyOf(definition);
  const apiVersion = `${strict.spec.group}/v1beta1`;
  const path = (name = ''): string => `/apis/${apiVersion}/namespaces/${server.namespace}/${plural}${name}`;
  const create = (name: string, spec: object | undefined, query = {}): Promise<Reply> => {
    const body = { ...replica, apiVersion, metadata: { name, finalizers: ['ome.test/hold'] }, spec };
    return server.request('POST', path(), { body, query });
  };
  const merge = (name: string, body: unknown): Promise<Reply> =>
    server.request('PATCH', path(name), { body, contentType: 'application/merge-patch+json' });

  /** The server takes a changed definition into use some time after it has stored it. */
  async function rulesInForce(): Promise<void> {
    while ((await create('probe', { component: 'engine' }, { dryRun: 'All' })).status !== 422) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  beforeAll(async () => {
    await server.applyDefinition(withoutRules(strict));
    const wrong = { ...replica.spec, replicas: 1, autoscaler: { class: 'HPA' }, pacing: { partition: 4 } };
    expect(messageOf(await create('7b.pool', wrong))).toBe('');
    expect(messageOf(await create('left-wrong', wrong))).toBe('');
    expect(messageOf(await create('without-spec', undefined))).toBe('');
    await server.applyDefinition(strict);
    await rulesInForce();
  });

  afterAll(async () => {
    await server.request('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${strict.metadata.name}`);
  });

  it('is still labelled, reported on, and read [B24]', async () => {
    const labelled = await merge('/7b.pool', { metadata: { labels: { a: 'b' } } });
    expect(messageOf(labelled)).toBe('');
    expect(messageOf(await merge('/7b.pool/status', { status: { replicas: 1 } }))).toBe('');
    expect((await server.request('GET', path())).status).toBe(200);
  });

  it('is refused a change that leaves it wrong, and allowed the one that puts it right [B24]', async () => {
    expect(messageOf(await merge('/7b.pool', { spec: { minReadySeconds: 1 } }))).toContain('spec.autoscaler.class');
    const right = { pacing: null, autoscaler: { class: 'None' } };
    expect(messageOf(await merge('/7b.pool', { spec: right }))).toBe('');
  });

  it.each(['7b.pool', 'left-wrong', 'without-spec'])('%s is still deleted [B24]', async (name) => {
    await server.request('DELETE', path(`/${name}`));
    expect(messageOf(await merge(`/${name}`, { metadata: { finalizers: null } }))).toBe('');
    expect((await server.request('GET', path(`/${name}`))).status).toBe(404);
  });
});
