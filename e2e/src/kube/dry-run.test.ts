/** What a real API server says to the dry run of a pod, and in which order it looks for faults. */
import { beforeAll, expect, it } from '@jest/globals';
import { type Client, classify, type KubeObject, type ResourceType } from '@omenative/kube';
import { type Cluster, describeOnCluster, pods } from './testing/cluster.js';

const quotas: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};

const container = { name: 'main', image: 'none:1' };
const faulty: Readonly<Record<string, { readonly spec: object; readonly as: string; readonly words: RegExp }>> = {
  'a request above its limit': {
    spec: { containers: [{ ...container, resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] },
    as: 'invalid',
    words: /resources\.requests: Invalid value: "2": must be less than or equal to cpu limit of 1/,
  },
  'two containers of one name': {
    spec: { containers: [container, container] },
    as: 'invalid',
    words: /containers\[1\]\.name: Duplicate value: "main"/,
  },
  'a mount without its volume': {
    spec: { containers: [{ ...container, volumeMounts: [{ name: 'nothing', mountPath: '/data' }] }] },
    as: 'invalid',
    words: /volumeMounts\[0\]\.name: Not found: "nothing"/,
  },
  'an unknown priority class': {
    spec: { containers: [container], priorityClassName: 'nobody' },
    as: 'forbidden',
    words: /no PriorityClass with name nobody was found/,
  },
  'an unknown service account': {
    spec: { containers: [container], serviceAccountName: 'nobody' },
    as: 'forbidden',
    words: /error looking up service account .*nobody/,
  },
  'a field of the wrong type': {
    spec: { containers: [{ ...container, args: 'text' }] },
    as: 'badRequest',
    words: /cannot be handled as a Pod/,
  },
};

describeOnCluster('the dry run of a pod on a real API server', (theCluster) => {
  let cluster: Cluster;
  let client: Client;

  async function dryRun(spec: object, name = 'tried'): Promise<readonly [as: string, words: string]> {
    const pod = { metadata: { namespace: cluster.namespace, name }, spec } as KubeObject;
    return client.create(pods, pod, { dryRun: 'All' }).then(
      () => ['ok', ''],
      (error: unknown) => [classify(error), String(error)],
    );
  }

  beforeAll(async () => {
    cluster = theCluster();
    ({ client } = cluster);
    await cluster.until('pods can be created', async () => (await dryRun({ containers: [container] }))[0] === 'ok');
  });

  it.each(Object.entries(faulty))('is refused for %s, in words that name it', async (_, { spec, as, words }) => {
    expect(await dryRun(spec)).toEqual([as, expect.stringMatching(words)]);
  });

  it('stores nothing', async () => {
    expect(await dryRun({ containers: [container] })).toEqual(['ok', '']);
    expect((await client.list(pods, { namespace: cluster.namespace })).items).toEqual([]);
  });

  it('finds that a name is taken after everything else', async () => {
    const spec = { containers: [container], nodeSelector: { 'kube-e2e/no': 'node' } };
    await client.create(pods, { metadata: { namespace: cluster.namespace, name: 'taken' }, spec } as KubeObject);
    expect((await dryRun(spec, 'taken'))[0]).toBe('alreadyExists');
    for (const fault of Object.values(faulty)) expect((await dryRun(fault.spec, 'taken'))[0]).toBe(fault.as);
  });

  it('asks the quotas last of all, and charges them nothing', async () => {
    const quota = { metadata: { namespace: cluster.namespace, name: 'full' } };
    await client.create(quotas, { ...quota, spec: { hard: { pods: '1' } } } as KubeObject);
    const used = async (): Promise<unknown> => {
      const current = (await client.get(quotas, quota.metadata)) as { readonly status?: { readonly used?: object } };
      return current.status?.used;
    };
    const spec = { containers: [container], nodeSelector: { 'kube-e2e/no': 'node' } };
    const filler = { metadata: { namespace: cluster.namespace, name: 'filler' }, spec } as KubeObject;
    await cluster.until('the quota is full', async () => {
      await client.create(pods, filler).catch(() => undefined);
      return (await dryRun(spec))[0] === 'quota';
    });
    for (const fault of Object.values(faulty)) expect((await dryRun(fault.spec))[0]).toBe(fault.as);
    const before = await used();
    await dryRun(spec);
    expect(await used()).toEqual(before);
    await client.delete(quotas, quota.metadata);
  });
});
