/** The scheduler: where pods may go, and what it says when they may go nowhere. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, type Json, MERGE, make, metaOf, read, STRATEGIC } from '../bed.js';

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

async function nodeNames(bed: Bed): Promise<readonly string[]> {
  const { body } = await bed.request('GET', '/api/v1/nodes');
  return (body['items'] as Json[]).map((node) => metaOf(node).name);
}

/** A kind of device that only this case knows. */
const deviceOf = (bed: Bed): string => `ome.test/${bed.namespace}`;

/** Gives a node devices, as a device plugin would. */
async function equip(bed: Bed, node: string, count: string): Promise<void> {
  const devices = { [deviceOf(bed)]: count };
  const answer = await bed.request('PATCH', `/api/v1/nodes/${node}/status`, {
    contentType: STRATEGIC,
    body: { status: { capacity: devices, allocatable: devices } },
  });
  expect(answer.status).toBe(200);
}

/** A pod that needs some of the devices of this case. */
function greedy(
  bed: Bed,
  name: string,
  count: string,
  container: Json = { image: 'busybox:v1' },
  spec: Json = {},
): Json {
  const resources = { limits: { [deviceOf(bed)]: count } };
  return pod(name, { containers: [{ name: 'main', ...container, resources }], ...spec });
}

export const scheduling: readonly Case[] = [
  {
    id: 'schedule-devices',
    title: 'devices are counted: the message of a pod that finds none left, and what makes room for it',
    needs: 'controllers',
    run: async (bed) => {
      const nodes = await nodeNames(bed);
      const [first = ''] = nodes;
      await equip(bed, first, '2');
      await make(bed, 'pods', greedy(bed, 'a', '2'));
      expect(await placed(bed, 'a')).toBe(first);
      await make(bed, 'pods', greedy(bed, 'b', '1'));
      const all = nodes.length;
      const others = all === 1 ? '' : `, ${all - 1} Preemption is not helpful for scheduling`;
      expect((await refused(bed, 'b')).message).toBe(
        `0/${all} nodes are available: ${all} Insufficient ${deviceOf(bed)}. no new claims to deallocate, preemption: 0/${all} nodes are available: 1 No preemption victims found for incoming pod${others}.`,
      );
      await make(bed, 'pods', greedy(bed, 'c', '4'));
      expect((await refused(bed, 'c')).message).toContain(`: ${all} Preemption is not helpful for scheduling.`);
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      expect(await placed(bed, 'b')).toBe(first);
      await equip(bed, first, '5');
      expect(await placed(bed, 'c')).toBe(first);
    },
  },
  {
    id: 'schedule-devices-terminating',
    title: 'a pod that is being deleted keeps its devices until its containers have ended',
    needs: 'nodes',
    run: async (bed) => {
      const [first = ''] = await nodeNames(bed);
      await equip(bed, first, '1');
      await make(bed, 'pods', greedy(bed, 'a', '1', bed.program('stubborn'), { terminationGracePeriodSeconds: 6 }));
      const running = () =>
        read(bed, 'pods', 'a').then((one) => (one['status'] as { phase: string }).phase === 'Running');
      await bed.eventually('a running', async () => ((await running()) ? true : undefined));
      await make(bed, 'pods', greedy(bed, 'b', '1'));
      const { lastTransitionTime } = await refused(bed, 'b');
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      await bed.pause(3000);
      expect(await scheduled(bed, 'b')).toMatchObject({ reason: 'Unschedulable', lastTransitionTime });
      expect(await running()).toBe(true);
      expect(await placed(bed, 'b')).toBe(first);
      const gone = await bed.request('GET', at(bed, 'pods', 'a'));
      const left = gone.status === 404 ? 'nothing' : (gone.body['status'] as { phase: string }).phase;
      expect(['nothing', 'Failed']).toContain(left);
    },
  },
  {
    id: 'schedule-closed-nodes',
    title: 'nodes that are cordoned or tainted say so, and take pods again when they are open',
    needs: 'controllers',
    run: async (bed) => {
      const [first = '', ...rest] = await nodeNames(bed);
      const change = (node: string, spec: Json) =>
        bed.request('PATCH', `/api/v1/nodes/${node}`, { contentType: MERGE, body: { spec } });
      try {
        await change(first, { taints: [{ key: 'ome.test/closed', value: 'x', effect: 'NoSchedule' }] });
        for (const node of rest) await change(node, { unschedulable: true });
        await make(bed, 'pods', pod('a'));
        const cordoned = rest.length === 0 ? '' : `, ${rest.length} node(s) were unschedulable`;
        expect((await refused(bed, 'a')).message).toContain(
          `: 1 node(s) had untolerated taint(s)${cordoned}. no new claims to deallocate, preemption: `,
        );
      } finally {
        await change(first, { taints: null });
        for (const node of rest) await change(node, { unschedulable: null });
      }
      await placed(bed, 'a');
    },
  },
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
