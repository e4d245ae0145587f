/** Services and their EndpointSlices. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, JSON_PATCH, type Json, MERGE, make, metaOf, STRATEGIC } from '../bed.js';

function service(name: string, spec: Json, metadata: Json = {}): Json {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, ...metadata }, spec };
}

/** A pod that runs: its readiness hangs on a gate. */
function gatedPod(name: string, more: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'x' } },
    spec: {
      terminationGracePeriodSeconds: 1,
      readinessGates: [{ conditionType: 'ome.io/serving' }],
      containers: [{ name: 'main', image: 'busybox:v1', ports: [{ name: 'web', containerPort: 8080 }] }],
      ...more,
    },
  };
}

interface Slice {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly Json[];
  };
  readonly addressType: string;
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions: Json;
    readonly hostname?: string;
    readonly nodeName?: string;
    readonly targetRef: Json;
  }[];
  readonly ports: readonly Json[];
}

async function slices(bed: Bed, name: string): Promise<readonly Slice[]> {
  const query = { labelSelector: `kubernetes.io/service-name=${name}` };
  const { body } = await bed.request('GET', at(bed, 'endpointslices'), { query });
  return (body['items'] ?? []) as Slice[];
}

function endpoint(bed: Bed, name: string, wanted: Json) {
  return bed.eventually(
    `an endpoint of ${name} with ${JSON.stringify(wanted)}`,
    async () => {
      const all = (await slices(bed, name)).flatMap((slice) => slice.endpoints ?? []);
      return all.find((one) => Object.entries(wanted).every(([key, value]) => one.conditions[key] === value));
    },
    60_000,
  );
}

function gate(bed: Bed, name: string, status: 'True' | 'False') {
  const condition = { type: 'ome.io/serving', status, lastTransitionTime: '2026-01-01T00:00:00Z' };
  return bed.request('PATCH', at(bed, 'pods', name, 'status'), {
    contentType: STRATEGIC,
    body: { status: { conditions: [condition] } },
  });
}

export const services: readonly Case[] = [
  {
    id: 'service-defaults',
    title: 'a Service gets an address, port defaults and families; a headless one gets none',
    needs: 'api',
    run: async (bed) => {
      const made = await make(bed, 'services', service('a', { ports: [{ port: 80 }], selector: { app: 'x' } }));
      expect(made).toMatchObject({
        spec: {
          type: 'ClusterIP',
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          clusterIP: expect.stringMatching(/^10\./),
          ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        },
        status: { loadBalancer: {} },
      });
      const headless = await make(bed, 'services', service('b', { clusterIP: 'None', selector: { app: 'x' } }));
      expect(headless['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
      expect(headless['spec']).not.toHaveProperty('ports');
    },
  },
  {
    id: 'service-validation',
    title: 'a Service needs ports, names for several of them, and keeps its address',
    needs: 'api',
    run: async (bed) => {
      const fields = async (spec: Json) => {
        const { status, body } = await bed.request('POST', at(bed, 'services'), { body: service('x', spec) });
        return [status, ...(body['details'] as { causes: { field: string }[] }).causes.map(({ field }) => field)];
      };
      expect(await fields({ selector: { a: 'b' } })).toEqual([422, 'spec.ports']);
      expect(await fields({ ports: [{ port: 80 }, { port: 81, name: 'b' }] })).toEqual([422, 'spec.ports[0].name']);
      await make(bed, 'services', service('a', { ports: [{ port: 80 }] }));
      const body = { spec: { clusterIP: '10.0.9.9' } };
      const moved = await bed.request('PATCH', at(bed, 'services', 'a'), { contentType: MERGE, body });
      expect(moved).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'spec.clusterIPs[0]' }] } } });
      const put = await bed.request('PUT', at(bed, 'services', 'a'), { body: service('a', { ports: [{ port: 81 }] }) });
      expect(put).toMatchObject({
        status: 200,
        body: { spec: { clusterIP: expect.stringMatching(/^10\./), ports: [{ port: 81 }] } },
      });
    },
  },
  {
    id: 'service-selector-merge',
    title: 'a strategic patch of a selector replaces nothing it does not name; null takes out',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'services', service('a', { ports: [{ port: 80 }], selector: { app: 'x', hash: '1' } }));
      const patch = (body: Json) => bed.request('PATCH', at(bed, 'services', 'a'), { contentType: STRATEGIC, body });
      expect((await patch({ spec: { selector: { hash: '2' } } })).body['spec']).toMatchObject({
        selector: { app: 'x', hash: '2' },
      });
      expect((await patch({ spec: { selector: { hash: null } } })).body['spec']).toMatchObject({
        selector: { app: 'x' },
      });
      const named = await patch({
        spec: {
          ports: [
            { port: 80, name: 'web' },
            { port: 90, name: 'more' },
          ],
        },
      });
      expect(named.body['spec']).toMatchObject({
        ports: [
          { port: 80, name: 'web' },
          { port: 90, name: 'more' },
        ],
      });
    },
  },
  {
    id: 'slices-placeholder',
    title: 'a Service without pods has one slice without endpoints, with its labels and its owner',
    needs: 'controllers',
    run: async (bed) => {
      const made = await make(
        bed,
        'services',
        service('a', { ports: [{ port: 80 }], selector: { app: 'x' } }, { labels: { team: 'one' } }),
      );
      const [slice] = await bed.eventually('a slice', async () => {
        const all = await slices(bed, 'a');
        return all.length > 0 ? all : undefined;
      });
      expect(slice?.metadata.labels).toEqual({
        'kubernetes.io/service-name': 'a',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        team: 'one',
      });
      expect(slice?.metadata.ownerReferences).toEqual([
        {
          apiVersion: 'v1',
          kind: 'Service',
          name: 'a',
          uid: metaOf(made).uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      expect(slice?.metadata.name).toMatch(/^a-.{5}$/);
      expect(slice?.addressType).toBe('IPv4');
      expect(slice?.endpoints ?? []).toEqual([]);
      await make(bed, 'services', service('none', { ports: [{ port: 80 }] }));
      await bed.pause(1000);
      expect(await slices(bed, 'none')).toEqual([]);
    },
  },
  {
    id: 'slices-readiness',
    title: 'an endpoint follows the readiness of its pod; the placeholder slice is taken into use',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'services', service('a', { ports: [{ port: 80, targetPort: 'web' }], selector: { app: 'x' } }));
      const [before] = await bed.eventually('a slice', async () => {
        const all = await slices(bed, 'a');
        return all.length > 0 ? all : undefined;
      });
      const pod = await make(bed, 'pods', gatedPod('p'));
      const off = await endpoint(bed, 'a', { ready: false });
      expect(off.conditions).toEqual({ ready: false, serving: false, terminating: false });
      expect(off.targetRef).toEqual({ kind: 'Pod', namespace: bed.namespace, name: 'p', uid: metaOf(pod).uid });
      expect(off.nodeName).toBeDefined();
      expect(off.addresses).toHaveLength(1);
      await gate(bed, 'p', 'True');
      const on = await endpoint(bed, 'a', { ready: true });
      expect(on.conditions).toEqual({ ready: true, serving: true, terminating: false });
      await gate(bed, 'p', 'False');
      await endpoint(bed, 'a', { ready: false });
      const after = await slices(bed, 'a');
      expect(after.map((slice) => slice.metadata.name)).toEqual([before?.metadata.name]);
      expect(after[0]?.ports).toEqual([{ name: '', port: 8080, protocol: 'TCP' }]);
    },
  },
  {
    id: 'slices-publish-not-ready',
    title: 'a headless Service that publishes pods that are not ready calls them ready, and tells the truth as serving',
    needs: 'controllers',
    run: async (bed) => {
      const spec = { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: 'x' } };
      await make(bed, 'services', service('a', spec));
      await make(bed, 'pods', gatedPod('p', { hostname: 'p', subdomain: 'a' }));
      const one = await endpoint(bed, 'a', { ready: true });
      expect(one.conditions).toEqual({ ready: true, serving: false, terminating: false });
      expect(one.hostname).toBe('p');
      const [slice] = await slices(bed, 'a');
      expect(slice?.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
      expect(slice?.ports ?? []).toEqual([]);
    },
  },
  {
    id: 'slices-stay',
    title: 'endpoints of a headless Service with a port keep their places in their slice when one of them changes',
    needs: 'controllers',
    run: async (bed) => {
      const ports = [{ name: 'discard', port: 9 }];
      const spec = { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: 'x' }, ports };
      await make(bed, 'services', service('a', spec));
      const names = Array.from({ length: 8 }, (_, n) => `p${n}`);
      for (const name of names) await make(bed, 'pods', gatedPod(name));
      const places = async () => {
        const all = (await slices(bed, 'a')).flatMap((slice) => slice.endpoints ?? []);
        return all.map(({ targetRef, conditions }) => [targetRef['name'], conditions['serving']] as const);
      };
      const before = await bed.eventually('an endpoint for each pod', async () => {
        const found = await places();
        return found.length === names.length ? found : undefined;
      });
      await gate(bed, 'p3', 'True');
      await bed.eventually('p3 serving', async () => {
        return (await places()).some(([name, serving]) => name === 'p3' && serving === true) ? true : undefined;
      });
      expect((await places()).map(([name]) => name)).toEqual(before.map(([name]) => name));
    },
  },
  {
    id: 'slices-terminal',
    title: 'a pod that has ended, or lost the label, has no endpoint',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'services', service('a', { ports: [{ port: 80 }], selector: { app: 'x' } }));
      await make(bed, 'pods', gatedPod('p'));
      await endpoint(bed, 'a', { ready: false });
      await bed.request('PATCH', at(bed, 'pods', 'p'), {
        contentType: MERGE,
        body: { metadata: { labels: { app: 'y' } } },
      });
      await bed.eventually('no endpoint', async () => {
        const all = (await slices(bed, 'a')).flatMap((slice) => slice.endpoints ?? []);
        return all.length === 0 ? true : undefined;
      });
    },
  },
  {
    id: 'slices-labels-follow',
    title: 'labels of the Service are copied to its slices when they change',
    needs: 'controllers',
    run: async (bed) => {
      await make(
        bed,
        'services',
        service('a', { ports: [{ port: 80 }], selector: { app: 'x' } }, { labels: { one: '1' } }),
      );
      await bed.request('PATCH', at(bed, 'services', 'a'), {
        contentType: JSON_PATCH,
        body: [{ op: 'add', path: '/metadata/labels/two', value: '2' }],
      });
      await bed.eventually('the labels', async () => {
        const [slice] = await slices(bed, 'a');
        return slice?.metadata.labels['two'] === '2' && slice.metadata.labels['one'] === '1' ? true : undefined;
      });
    },
  },
  {
    id: 'slices-repaired',
    title: 'a slice that somebody deletes comes back; all go with the Service',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'services', service('a', { ports: [{ port: 80 }], selector: { app: 'x' } }));
      const first = await bed.eventually('a slice', async () => (await slices(bed, 'a'))[0]?.metadata.name);
      await bed.request('DELETE', at(bed, 'endpointslices', first));
      await bed.eventually('another slice', async () => {
        const name = (await slices(bed, 'a'))[0]?.metadata.name;
        return name !== undefined && name !== first ? true : undefined;
      });
      await bed.request('DELETE', at(bed, 'services', 'a'));
      await bed.eventually('no slice', async () => ((await slices(bed, 'a')).length === 0 ? true : undefined), 60_000);
    },
  },
];
