/** What a real API server answers, and what we take it for. */
import { beforeEach, expect, it } from '@jest/globals';
import {
  addFinalizer,
  Client,
  classify,
  type ErrorClass,
  type KubeObject,
  type Patch,
  podConditionPatch,
  type ResourceType,
  removeFinalizer,
} from '@omenative/kube';
import {
  type Cluster,
  type ConfigMap,
  configMaps,
  definitions,
  describeOnCluster,
  namespaces,
  pods,
} from './testing/cluster.js';

const quotas: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};
const webhooks: ResourceType = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};
function nameOf(object: KubeObject): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name = '' } = object.metadata ?? {};
  return { namespace, name };
}

async function classOf(call: Promise<unknown>): Promise<ErrorClass | 'ok'> {
  return call.then(
    () => 'ok' as const,
    (error: unknown) => classify(error),
  );
}

describeOnCluster('Client on a real API server', (theCluster) => {
  let cluster: Cluster;
  let client: Client;
  let count = 0;

  async function create(data: Readonly<Record<string, string>> = {}): Promise<ConfigMap> {
    return client.create(configMaps, cluster.configMap(`map-${count++}`, {}, data));
  }

  beforeEach(() => {
    cluster = theCluster();
    ({ client } = cluster);
  });

  it('is told of lost races', async () => {
    const map = await create();
    const name = nameOf(map);
    const stale = { ...map.metadata, resourceVersion: '1' };
    const other = { ...map.metadata, uid: 'of-another' };
    const patch = (body: Patch): Promise<unknown> => client.patch(configMaps, name, body);
    const outcomes = {
      'replace at an old version': await classOf(client.replace(configMaps, { ...map, metadata: stale })),
      'replace another object': await classOf(client.replace(configMaps, { ...map, metadata: other })),
      'merge into an old version': await classOf(
        patch({ kind: 'merge', body: { metadata: { resourceVersion: '1' } } }),
      ),
      'merge into another object': await classOf(patch({ kind: 'merge', body: { metadata: { uid: 'of-another' } } })),
      'delete an old version': await classOf(
        client.delete(configMaps, name, { preconditions: { resourceVersion: '1' } }),
      ),
      'delete another object': await classOf(client.delete(configMaps, name, { preconditions: { uid: 'of-another' } })),
      'add a finalizer to an old version': await classOf(
        patch(addFinalizer({ metadata: stale }, 'kube-e2e/f') as Patch),
      ),
      'remove a finalizer of another object': await classOf(
        patch(removeFinalizer({ metadata: { ...other, finalizers: ['kube-e2e/f'] } }, 'kube-e2e/f') as Patch),
      ),
      'remove a finalizer that is gone': await classOf(
        patch(removeFinalizer({ metadata: { ...map.metadata, finalizers: ['kube-e2e/f'] } }, 'kube-e2e/f') as Patch),
      ),
    };
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['conflict']));
    expect(await classOf(client.create(configMaps, cluster.configMap(name.name)))).toBe('alreadyExists');
  });

  it('is told what is wrong with a request', async () => {
    const map = await create();
    const nowhere = { namespace: cluster.namespace, name: 'nowhere' };
    const big = (bytes: number): Promise<unknown> => create({ x: 'x'.repeat(bytes) });
    const widgetless: ResourceType = { ...configMaps, plural: 'widgets' };
    expect(await classOf(client.get(configMaps, nowhere))).toBe('notFound');
    expect(await classOf(client.delete(configMaps, nowhere))).toBe('notFound');
    expect(await classOf(client.list(widgetless, { namespace: cluster.namespace }))).toBe('notFound');
    expect(await classOf(client.create(configMaps, cluster.configMap('Not_A_Name')))).toBe('invalid');
    expect(await classOf(client.patch(configMaps, nameOf(map), { kind: 'merge', body: 'text' }))).toBe('badRequest');
    expect(await classOf(client.raw({ method: 'DELETE', path: '/api/v1' }))).toBe('unsupported');
    expect(await classOf(client.patch(definitions, { name: 'x.y' }, { kind: 'strategic', body: {} }))).toBe('notFound');
    expect(await classOf(big(4_000_000))).toBe('tooLarge');
    expect(
      await classOf(client.list(configMaps, { namespace: cluster.namespace, limit: 1, continueToken: 'bad' })),
    ).toBe('badRequest');
  });

  it('is told when the namespace ends', async () => {
    const name = `${cluster.namespace}-ending`;
    await client.create(namespaces, { metadata: { name, finalizers: [] } });
    const held = { namespace: name, name: 'held' };
    await client.create(configMaps, { metadata: { ...held, finalizers: ['kube-e2e/hold'] } });
    await client.delete(namespaces, { name });
    const late = { metadata: { namespace: name, name: 'late' } };
    await cluster.until(
      'nothing can be created',
      async () => (await classOf(client.create(configMaps, late))) !== 'ok',
    );
    expect(await classOf(client.create(configMaps, { metadata: { namespace: name, name: 'later' } }))).toBe(
      'namespaceTerminating',
    );
    await client.patch(configMaps, held, { kind: 'merge', body: { metadata: { finalizers: [] } } });
  });

  it('is told of a quota', async () => {
    const hard = { 'count/configmaps': '0' };
    const quota = { metadata: { namespace: cluster.namespace, name: 'none' }, spec: { hard } } as KubeObject;
    await client.create(quotas, quota);
    try {
      await cluster.until('the quota is in force', async () => (await classOf(create())) === 'quota');
      await cluster.until('the quota is counted', async () => {
        const current = (await client.get(quotas, nameOf(quota))) as { readonly status?: { readonly used?: object } };
        return current.status?.used !== undefined;
      });
      expect(await classOf(create())).toBe('quota');
    } finally {
      await client.delete(quotas, nameOf(quota));
      await cluster.until('the quota is gone', async () => (await classOf(create())) === 'ok');
    }
  });

  it('is told of a webhook that cannot be asked', async () => {
    const name = `${cluster.namespace}.example.com`;
    const hook = {
      metadata: { name },
      webhooks: [
        {
          name: `down.${name}`,
          clientConfig: { url: 'https://127.0.0.1:1/' },
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
        },
      ],
    };
    await client.create(webhooks, hook);
    try {
      await cluster.until('the webhook is in force', async () => (await classOf(create())) === 'admissionUnavailable');
    } finally {
      await client.delete(webhooks, { name });
      await cluster.until('the webhook is gone', async () => (await classOf(create())) === 'ok');
    }
  });

  it('adds and removes its finalizer, and no other', async () => {
    let map = await create();
    const change = async (patch: Patch | undefined): Promise<void> => {
      if (patch === undefined) throw new Error('there is nothing to change');
      map = await client.patch(configMaps, nameOf(map), patch);
    };
    await change(addFinalizer(map, 'kube-e2e/ours'));
    await change(addFinalizer(map, 'kube-e2e/theirs'));
    expect(map.metadata?.finalizers).toEqual(['kube-e2e/ours', 'kube-e2e/theirs']);
    await change(removeFinalizer(map, 'kube-e2e/ours'));
    expect(map.metadata?.finalizers).toEqual(['kube-e2e/theirs']);
    const reply = await client.delete(configMaps, nameOf(map));
    expect(reply.how).toBe('terminating');
    map = await client.get(configMaps, nameOf(map));
    await change(removeFinalizer(map, 'kube-e2e/theirs'));
    expect(await classOf(client.get(configMaps, nameOf(map)))).toBe('notFound');
  });

  it('sets one condition of a pod, of this pod', async () => {
    const metadata = { namespace: cluster.namespace, name: 'conditions' };
    const spec = { containers: [{ name: 'main', image: 'none' }], nodeSelector: { 'kube-e2e/no': 'node' } };
    await cluster.until(
      'pods can be created',
      async () => (await classOf(client.create(pods, { metadata, spec } as KubeObject))) !== 'forbidden',
    );
    const { uid = '' } = (await client.get(pods, metadata)).metadata ?? {};
    const condition = {
      type: 'kube-e2e/gate',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const set = (patch: Patch): Promise<unknown> => client.patch(pods, metadata, patch, { subresource: 'status' });
    await set(podConditionPatch({ uid }, condition));
    await set(podConditionPatch({ uid }, { ...condition, status: 'False' }));
    const { status } = (await client.get(pods, metadata)) as {
      readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    };
    expect(status?.conditions?.filter(({ type }) => type === 'kube-e2e/gate')).toMatchObject([{ status: 'False' }]);
    expect(await classOf(set(podConditionPatch({ uid: 'of-another' }, condition)))).toBe('conflict');
    expect(await classOf(set(podConditionPatch({ uid, resourceVersion: '1' }, condition)))).toBe('conflict');
  });

  it('tries without doing, applies what it owns, and reads in pages', async () => {
    const tried = await client.create(configMaps, cluster.configMap('tried'), { dryRun: 'All' });
    expect(tried.metadata?.uid).toBeDefined();
    expect(await classOf(client.get(configMaps, nameOf(tried)))).toBe('notFound');

    const name = { namespace: cluster.namespace, name: 'applied' };
    const apply = (v: string, manager: string, force: 'takeOver' | 'yield'): Promise<ConfigMap> => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data: { v } };
      return client.patch(configMaps, name, { kind: 'apply', body, fieldManager: manager, force });
    };
    await apply('1', 'one', 'yield');
    expect(await classOf(apply('2', 'two', 'yield'))).toBe('conflict');
    expect((await apply('2', 'two', 'takeOver')).data).toEqual({ v: '2' });

    await create();
    const first = await client.list(configMaps, { namespace: cluster.namespace, limit: 1 });
    const continueToken = first.continueToken ?? '';
    const second = await client.list(configMaps, { namespace: cluster.namespace, limit: 1, continueToken });
    expect([first.items.length, second.items.length, second.resourceVersion]).toEqual([1, 1, first.resourceVersion]);
    expect(nameOf(first.items[0] ?? {})).not.toEqual(nameOf(second.items[0] ?? {}));
  });

  it('keeps its sockets: a hundred requests, a handful of connections [B113]', async () => {
    const { proxy, transport } = await cluster.behindProxy();
    const own = new Client({ transport, runtime: cluster.runtime });
    for (let i = 0; i < 100; i++) await own.list(configMaps, { namespace: cluster.namespace, limit: 1 });
    expect(proxy.accepted).toBe(1);
    await Promise.all(
      Array.from({ length: 200 }, () => own.list(configMaps, { namespace: cluster.namespace, limit: 1 })),
    );
    expect(proxy.accepted).toBeLessThanOrEqual(32);
  });
});
