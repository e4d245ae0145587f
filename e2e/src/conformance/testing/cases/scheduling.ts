/** The scheduler: where pods may go, and what it says when they may go nowhere. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, type Json, MERGE, make, read } from '../bed.js';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

function pod(name: string, spec: Json = {}, labels: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox:v1' }], ...spec },
  };
}

async function scheduled(bed: Bed, name: string): Promise<Condition | undefined> {
  const { conditions } = (await read(bed, 'pods', name))['status'] as { conditions?: readonly Condition[] };
  return conditions?.find(({ type }) => type === 'PodScheduled');
}

function refused(bed: Bed, name: string): Promise<Condition> {
  return bed.eventually(`${name} refused`, async () => {
    const condition = await scheduled(bed, name);
    return condition?.status === 'False' && condition.reason === 'Unschedulable' ? condition : undefined;
  });
}

function placed(bed: Bed, name: string): Promise<string> {
  return bed.eventually(
    `${name} placed`,
    async () => ((await read(bed, 'pods', name))['spec'] as { nodeName?: string }).nodeName,
  );
}

/** Keeps pods of a case off each other's nodes, and everything else off them. */
const anti = (label: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { group: label } } },
    ],
  },
});

/** Required node affinity with one term. */
const required = (term: Json) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
});

export const scheduling: readonly Case[] = [
  {
    id: 'schedule-binds',
    title: 'a pod that fits is bound: node and condition in one write',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'pods', pod('a'));
      expect(await placed(bed, 'a')).toMatch(/./);
      expect(await scheduled(bed, 'a')).toMatchObject({ status: 'True' });
    },
  },
  {
    id: 'schedule-unschedulable',
    title: 'a pod that fits nowhere gets a condition with the reasons, whose time does not move while it stays so',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'pods', pod('a', { nodeSelector: { 'ome.test/none': 'x' } }));
      const first = await refused(bed, 'a');
      expect(first.message).toMatch(
        /^0\/\d+ nodes are available: .*node\(s\) didn't match Pod's node affinity\/selector/,
      );
      const spec = {
        nodeSelector: { 'ome.test/none': 'x' },
        containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '900' } } }],
      };
      await make(bed, 'pods', pod('b', spec));
      await refused(bed, 'b');
      await bed.pause(2500);
      expect((await scheduled(bed, 'a'))?.lastTransitionTime).toBe(first.lastTransitionTime);
    },
  },
  {
    id: 'schedule-resources',
    title: 'a request that no node can meet is named in the message',
    needs: 'controllers',
    run: async (bed) => {
      const resources = { requests: { 'ome.test/gpu': '1' }, limits: { 'ome.test/gpu': '1' } };
      await make(bed, 'pods', pod('a', { containers: [{ name: 'main', image: 'x', resources }] }));
      expect((await refused(bed, 'a')).message).toContain('Insufficient ome.test/gpu');
    },
  },
  {
    id: 'schedule-gated',
    title: 'a gated pod is not looked at until its gates are gone',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'pods', pod('a', { schedulingGates: [{ name: 'ome.test/wait' }] }));
      await bed.pause(1500);
      expect(await scheduled(bed, 'a')).toMatchObject({ status: 'False', reason: 'SchedulingGated' });
      await bed.request('PATCH', at(bed, 'pods', 'a'), {
        contentType: MERGE,
        body: { spec: { schedulingGates: null } },
      });
      await placed(bed, 'a');
    },
  },
  {
    id: 'schedule-other-scheduler',
    title: 'a pod of a scheduler that does not run is left alone, without a condition',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'pods', pod('a', { schedulerName: 'nobody' }));
      await bed.pause(1500);
      expect((await read(bed, 'pods', 'a'))['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    },
  },
  {
    id: 'schedule-affinity',
    title: 'required node affinity is honoured, by label and by field',
    needs: 'controllers',
    run: async (bed) => {
      await make(
        bed,
        'pods',
        pod('a', required({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Exists' }] })),
      );
      const node = await placed(bed, 'a');
      await make(
        bed,
        'pods',
        pod('b', required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] })),
      );
      expect(await placed(bed, 'b')).toBe(node);
      await make(
        bed,
        'pods',
        pod('c', required({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'DoesNotExist' }] })),
      );
      await refused(bed, 'c');
    },
  },
  {
    id: 'schedule-anti-affinity',
    title: 'anti-affinity keeps pods of a group on different nodes, and one that goes makes room',
    needs: 'controllers',
    run: async (bed) => {
      const spread = { affinity: anti(bed.namespace) };
      const group = { group: bed.namespace };
      const { body } = await bed.request('GET', '/api/v1/nodes');
      const count = (body['items'] as Json[]).length;
      for (let i = 0; i < count; i += 1) {
        await make(bed, 'pods', pod(`p${i}`, spread, group));
        await placed(bed, `p${i}`);
      }
      await make(bed, 'pods', pod('more', spread, group));
      expect((await refused(bed, 'more')).message).toContain("node(s) didn't match pod anti-affinity rules");
      await bed.request('DELETE', at(bed, 'pods', 'p0'));
      await placed(bed, 'more');
    },
  },
];
