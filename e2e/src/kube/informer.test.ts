/** The list/watch cache against a real API server, over a network that fails in every way. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  type ApiRequest,
  type Change,
  Informer,
  type InformerOptions,
  type InformerProblem,
  isNewer,
  type KubeObject,
  type ResourceType,
  type Transport,
  type testing,
} from '@omenative/kube';
import { type Cluster, type ConfigMap, configMaps, definitions, describeOnCluster, pods } from './testing/cluster.js';

const scope = { 'kube-e2e/scope': 'in' };

/** Changes requests on their way, as a server of other habits would see them. */
function rewritten(transport: Transport, watchRequest: (request: ApiRequest) => ApiRequest): Transport {
  return {
    request: (request) => transport.request(request),
    watch: (request, sink) => transport.watch(watchRequest(request), sink),
  };
}

describeOnCluster('Informer on a real API server', (theCluster) => {
  let cluster: Cluster;
  let proxy: testing.TcpProxy;
  let transport: Transport;
  let informer: Informer<string>;
  let changes: string[];
  let problems: InformerProblem[];

  function create(options: Partial<InformerOptions<string>> = {}): Informer<string> {
    changes = [];
    problems = [];
    informer = new Informer<string>({
      transport,
      runtime: cluster.runtime,
      type: configMaps,
      namespace: cluster.namespace,
      labels: scope,
      project: (raw: ConfigMap) => raw.data?.['v'] ?? '',
      report: (problem) => problems.push(problem),
      ...options,
    });
    informer.subscribe(({ key, old, now, proof, cause }: Change<string>) => {
      const name = key.split('/').at(-1) ?? '';
      changes.push(`${cause} ${name} ${old ?? '-'} > ${now ?? '-'}${proof === undefined ? '' : ' !'}`);
    });
    return informer;
  }

  async function synced(options?: Partial<InformerOptions<string>>): Promise<void> {
    create(options).start();
    await informer.whenSynced();
  }

  async function write(name: string, v: string): Promise<string> {
    const { client } = cluster;
    const existing = informer.store.meta(`${cluster.namespace}/${name}`);
    const map = cluster.configMap(name, scope, { v });
    const reply =
      existing === undefined
        ? await client.create(configMaps, map)
        : await client.patch(
            configMaps,
            { namespace: cluster.namespace, name },
            { kind: 'merge', body: { data: { v } } },
          );
    return reply.metadata?.resourceVersion ?? '';
  }

  async function remove(name: string): Promise<void> {
    await cluster.client.delete(configMaps, { namespace: cluster.namespace, name });
  }

  function reached(resourceVersion: string): Promise<void> {
    return new Promise((resolve) => {
      informer.whenAt(resourceVersion, resolve);
    });
  }

  function shown(name: string): string | undefined {
    return informer.store.get(`${cluster.namespace}/${name}`);
  }

  beforeEach(async () => {
    cluster = theCluster();
    ({ proxy, transport } = await cluster.behindProxy());
    create();
  });

  afterEach(async () => {
    informer.stop();
    const path = `/api/v1/namespaces/${cluster.namespace}/configmaps`;
    await cluster.client.raw({ method: 'DELETE', path, query: { labelSelector: 'kube-e2e/scope' } });
  });

  it('streams the list, and follows what happens', async () => {
    await write('a', '1');
    await synced();
    expect([shown('a'), informer.stats().lists]).toEqual(['1', 1]);
    changes = [];
    await write('b', '1');
    await reached(await write('a', '2'));
    await remove('b');
    await cluster.until('b is gone', () => shown('b') === undefined);
    expect(changes).toEqual(['event b - > 1', 'event a 1 > 2', 'event b 1 > -']);
    expect(problems).toEqual([]);
  });

  it('lists in pages where streamed lists are refused', async () => {
    const names = Array.from({ length: 520 }, (_, i) => `page-${i}`);
    await Promise.all(names.map((name) => write(name, name)));
    const pages: (string | undefined)[] = [];
    const direct = transport;
    // A combination that every server refuses as one without the feature refuses the feature: with 422.
    const refused = rewritten(direct, (request) =>
      request.query?.['sendInitialEvents'] === undefined
        ? request
        : { ...request, query: { ...request.query, resourceVersionMatch: 'Exact' } },
    );
    transport = {
      request: (request) => {
        pages.push(request.query?.['limit']);
        return direct.request(request);
      },
      watch: (request, sink) => refused.watch(request, sink),
    };
    await synced();
    expect(pages).toEqual(['500', '500']);
    expect(informer.store.size).toBe(names.length);
    await reached(await write('page-7', 'changed'));
    expect(shown('page-7')).toBe('changed');
    expect(problems).toEqual([]);
  });

  it('notices a connection that went silent, and misses nothing [B111] [B113]', async () => {
    await write('a', '1');
    await synced({ silenceMs: 2000 });
    proxy.stall();
    await write('a', '2');
    await write('b', '1');
    await remove('a');
    await cluster.until('the silence is noticed', () => problems.some(({ kind }) => kind === 'silent'));
    expect([shown('a'), shown('b')]).toEqual(['1', undefined]);
    proxy.recover();
    await cluster.until('the cache has caught up', () => shown('a') === undefined && shown('b') === '1');
    expect(informer.stats()).toMatchObject({ lists: 1 });
    await cluster.until('one connection is left', () => proxy.connections <= 1);
  });

  it('goes on after cut connections, without another list, and leaves none behind [B113]', async () => {
    await synced();
    for (let i = 0; i < 2; i++) {
      proxy.cut();
      const version = await write('a', String(i));
      await reached(version);
      expect(shown('a')).toBe(String(i));
    }
    expect(informer.stats()).toMatchObject({ lists: 1, resumes: 2 });
    expect(proxy.connections).toBe(1);
    informer.stop();
    await cluster.until('no connection is left', () => proxy.connections === 0);
  });

  it('bears delay', async () => {
    proxy.delayMs = 150;
    await synced();
    await reached(await write('a', '1'));
    expect(shown('a')).toBe('1');
  });

  it('goes on where a stream ended that the server closed on time [B112]', async () => {
    transport = rewritten(transport, (request) => ({ ...request, query: { ...request.query, timeoutSeconds: '2' } }));
    await synced();
    await cluster.until('the stream was opened again', () => informer.stats().resumes >= 1);
    await reached(await write('a', '1'));
    expect(informer.stats()).toMatchObject({ lists: 1 });
    expect(problems).toEqual([]);
  });

  it('lists again when its position is too old, and tells what it missed [B114]', async () => {
    const widgets = await createType(cluster);
    const createWidget = (name: string): Promise<KubeObject> =>
      cluster.client.create(widgets, { metadata: { name, namespace: cluster.namespace, labels: scope } });
    await createWidget('a');
    await createWidget('b');
    let tooOld = false;
    // Older than the definition itself: the server cannot have this state.
    transport = rewritten(transport, (request) =>
      tooOld && request.query?.['sendInitialEvents'] === undefined
        ? { ...request, query: { ...request.query, resourceVersion: '1' } }
        : request,
    );
    await synced({ type: widgets, project: (raw) => raw.metadata?.name ?? '' });
    tooOld = true;
    changes = [];
    proxy.cut();
    await cluster.client.delete(widgets, { namespace: cluster.namespace, name: 'a' });
    await createWidget('c');
    await cluster.until('the missed changes are told', () => changes.length === 2);
    expect(changes).toEqual(['relist a a > -', 'relist c - > c']);
    expect(problems.map(({ kind }) => kind)).toContain('expired');
    informer.stop();
    await cluster.client.delete(definitions, { name: `widgets.${widgets.group}` });
  });

  it('is as new as it is told to be', async () => {
    await synced();
    proxy.stall();
    const version = await write('a', '1');
    proxy.recover();
    informer.relistNotOlderThan(version);
    await reached(version);
    expect(shown('a')).toBe('1');
    expect(isNewer(version, informer.store.position)).toBe(false);
    expect(informer.stats().lists).toBe(2);
  });

  it('tells an object that left the selector from nothing at all, and not from one that was deleted', async () => {
    await write('a', '1');
    await write('b', '1');
    await synced();
    changes = [];
    const name = { namespace: cluster.namespace, name: 'a' };
    await cluster.client.patch(configMaps, name, {
      kind: 'merge',
      body: { metadata: { labels: { 'kube-e2e/scope': 'out' } } },
    });
    await remove('b');
    await cluster.until('both are out of sight', () => informer.store.size === 0);
    expect(changes).toEqual(['event a 1 > -', 'event b 1 > -']);
    expect(informer.store.deletedWithProof(`${cluster.namespace}/a`)).toBeUndefined();
  });

  it('proves the deletion of a pod by the last it sees of it', async () => {
    const type: ResourceType = pods;
    await cluster.until('the service account is there', async () => {
      const path = `/api/v1/namespaces/${cluster.namespace}/serviceaccounts/default`;
      return (await cluster.transport.request({ method: 'GET', path })).status === 200;
    });
    await synced({ type, project: (raw) => raw.metadata?.name ?? '' });
    const metadata = { name: 'p', namespace: cluster.namespace, labels: scope };
    const spec = { containers: [{ name: 'main', image: 'none' }], nodeSelector: { 'kube-e2e/no': 'node' } };
    const pod = await cluster.client.create(type, { metadata, spec } as KubeObject);
    await cluster.client.delete(type, metadata, { preconditions: { uid: pod.metadata?.uid ?? '' } });
    const key = `${cluster.namespace}/p`;
    await cluster.until('the pod is proved gone', () => informer.store.deletedWithProof(key) !== undefined);
    expect(informer.store.deletedWithProof(key)?.uid).toBe(pod.metadata?.uid);
    expect(changes.at(-1)).toBe('event p p > - !');
  });

  it('takes its own writes in ahead of the stream, and nothing twice', async () => {
    await synced();
    proxy.stall();
    const map = await cluster.client.create(configMaps, cluster.configMap('a', scope, { v: '1' }));
    expect(informer.takeIn(map)).toBe('taken');
    expect(shown('a')).toBe('1');
    proxy.recover();
    proxy.cut();
    await reached(map.metadata?.resourceVersion ?? '');
    expect(informer.takeIn(map)).toBe('covered');
    expect(changes).toEqual(['takeIn a - > 1']);
  });
});

/** A type of this test's own, which the server cannot know from before. */
async function createType(cluster: Cluster): Promise<ResourceType> {
  const group = `${cluster.namespace}.example.com`;
  const spec = {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  };
  await cluster.client.create(definitions, { metadata: { name: `widgets.${group}` }, spec } as KubeObject);
  const widgets: ResourceType = { group, version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };
  const path = `/apis/${group}/v1/widgets`;
  await cluster.until(
    'widgets are served',
    async () => (await cluster.transport.request({ method: 'GET', path })).status === 200,
  );
  return widgets;
}
