/** Pods: what the server fills in, and what an update may change. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, idlePod, type Json, MERGE, make, metaOf, read, STRATEGIC } from '../bed.js';

function patch(bed: Bed, spec: Json) {
  return bed.request('PATCH', at(bed, 'pods', 'a'), { contentType: STRATEGIC, body: { spec } });
}

/** Binds the pod `a`. */
function bindingTo(node: string): Json {
  return {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: 'a' },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  };
}

const GATED = { schedulingGates: [{ name: 'ome.test/wait' }] };

export const pods: readonly Case[] = [
  {
    id: 'pod-defaults',
    title: 'what is read is not what was sent: defaults, account, tolerations, token volume, quality of service',
    needs: 'api',
    run: async (bed) => {
      const container = {
        name: 'main',
        image: 'busybox',
        ports: [{ containerPort: 80 }],
        readinessProbe: { httpGet: { port: 80 } },
        env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        resources: { limits: { cpu: '1' } },
      };
      const volumes = [{ name: 'v', configMap: { name: 'c' } }];
      const pod = await make(bed, 'pods', idlePod('a', { spec: { containers: [container], volumes } }));
      const spec = pod['spec'] as { containers: Json[]; volumes: Json[]; tolerations: Json[] };
      expect(spec).toMatchObject({
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        securityContext: {},
        schedulerName: 'nobody',
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
        priority: 0,
        serviceAccountName: 'default',
        serviceAccount: 'default',
      });
      expect(spec.containers[0]).toMatchObject({
        imagePullPolicy: 'Always',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        readinessProbe: {
          httpGet: { path: '/', port: 80, scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        env: [{ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }],
        resources: { limits: { cpu: '1' }, requests: { cpu: '1' } },
        volumeMounts: [{ readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
      });
      expect(spec.volumes[0]).toEqual({ name: 'v', configMap: { name: 'c', defaultMode: 420 } });
      expect(spec.volumes[1]).toMatchObject({ name: expect.stringMatching(/^kube-api-access-.{5}$/) });
      expect(spec.tolerations).toEqual(
        ['not-ready', 'unreachable'].map((word) => ({
          key: `node.kubernetes.io/${word}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        })),
      );
      expect(pod['status']).toEqual({ phase: 'Pending', qosClass: 'Burstable' });
    },
  },
  {
    id: 'pod-tolerations-own',
    title: 'own tolerations for lost nodes are kept instead of the default ones',
    needs: 'api',
    run: async (bed) => {
      const own = {
        key: 'node.kubernetes.io/unreachable',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 5,
      };
      const pod = await make(bed, 'pods', idlePod('a', { spec: { tolerations: [own] } }));
      const { tolerations } = pod['spec'] as { tolerations: Json[] };
      expect(tolerations.map((one) => [one['key'], one['tolerationSeconds']])).toEqual([
        ['node.kubernetes.io/unreachable', 5],
        ['node.kubernetes.io/not-ready', 300],
      ]);
    },
  },
  {
    id: 'pod-validation',
    title: 'a pod without containers, names or images is Invalid',
    needs: 'api',
    run: async (bed) => {
      const fields = async (spec: Json) => {
        const { status, body } = await bed.request('POST', at(bed, 'pods'), { body: idlePod('x', { spec }) });
        const { causes } = body['details'] as { causes: { field: string }[] };
        return [status, ...causes.map(({ field }) => field)];
      };
      expect(await fields({ containers: [] })).toEqual([422, 'spec.containers']);
      expect(await fields({ containers: [{ name: 'a' }] })).toEqual([422, 'spec.containers[0].image']);
      const twice = [
        { name: 'a', image: 'x' },
        { name: 'a', image: 'x' },
      ];
      expect(await fields({ containers: twice })).toEqual([422, 'spec.containers[1].name']);
      expect(await fields({ restartPolicy: 'Sometimes' })).toEqual([422, 'spec.restartPolicy']);
      const mount = [{ name: 'a', image: 'x', volumeMounts: [{ name: 'none', mountPath: '/x' }] }];
      expect(await fields({ containers: mount })).toEqual([422, 'spec.containers[0].volumeMounts[0].name']);
    },
  },
  {
    id: 'pod-update-images',
    title:
      'an update may change images, and adds to the generation; it may not change commands, resources or containers',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const image = await patch(bed, { containers: [{ name: 'main', image: 'busybox:v2' }] });
      expect(image).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } });
      const command = await patch(bed, { containers: [{ name: 'main', command: ['sleep'] }] });
      expect(command).toMatchObject({
        status: 422,
        body: { reason: 'Invalid', details: { causes: [{ field: 'spec', reason: 'FieldValueForbidden' }] } },
      });
      expect(command.body['message']).toContain(
        'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      );
      const more = await patch(bed, { containers: [{ name: 'extra', image: 'busybox:v1' }] });
      expect(more).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'spec.containers', reason: 'FieldValueForbidden' }] } },
      });
      expect(more.body['message']).toContain('pod updates may not add or remove containers');
    },
  },
  {
    id: 'pod-update-metadata',
    title: 'labels and annotations of a pod may change at any time, without a new generation',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const body = { metadata: { labels: { x: 'y' }, annotations: { p: 'q' } } };
      const answer = await bed.request('PATCH', at(bed, 'pods', 'a'), { contentType: MERGE, body });
      expect(answer).toMatchObject({ status: 200, body: { metadata: { generation: 1, labels: { x: 'y' } } } });
    },
  },
  {
    id: 'pod-update-tolerations',
    title: 'tolerations may be added to, not taken from',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'pods', idlePod('a'));
      const { tolerations } = first['spec'] as { tolerations: Json[] };
      const added = await patch(bed, { tolerations: [...tolerations, { key: 'x', operator: 'Exists' }] });
      expect(added.status).toBe(200);
      const fewer = await patch(bed, { tolerations: [] });
      expect(fewer).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'spec.tolerations', reason: 'FieldValueForbidden' }] } },
      });
    },
  },
  {
    id: 'pod-gates',
    title: 'a gated pod says so in a condition; gates may go and not come',
    needs: 'api',
    run: async (bed) => {
      const pod = await make(bed, 'pods', idlePod('a', { spec: GATED }));
      expect(pod['status']).toMatchObject({
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'SchedulingGated',
            message: 'Scheduling is blocked due to non-empty scheduling gates',
          },
        ],
      });
      const selector = await patch(bed, { nodeSelector: { disk: 'fast' } });
      expect(selector.status).toBe(200);
      const merge = (spec: Json) => bed.request('PATCH', at(bed, 'pods', 'a'), { contentType: MERGE, body: { spec } });
      const open = await merge({ schedulingGates: [] });
      expect(open.status).toBe(200);
      const closed = await merge(GATED);
      expect(closed).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'spec.schedulingGates[0].name' }] } },
      });
    },
  },
  {
    id: 'pod-binding',
    title: 'a pod is bound once: the node and the condition in one write, the generation as it was',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const bound = await bed.request('POST', at(bed, 'pods', 'a', 'binding'), { body: bindingTo('ghost') });
      expect(bound).toMatchObject({ status: 201, body: { kind: 'Status', status: 'Success' } });
      const pod = await read(bed, 'pods', 'a');
      expect(pod['spec']).toMatchObject({ nodeName: 'ghost' });
      expect(metaOf(pod).generation).toBe(1);
      const again = await bed.request('POST', at(bed, 'pods', 'a', 'binding'), { body: bindingTo('other') });
      expect(again).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
      expect(again.body['message']).toContain('pod a is already assigned to node "ghost"');
      await bed.request('DELETE', at(bed, 'pods', 'a'), { body: { gracePeriodSeconds: 0 } });
    },
  },
  {
    id: 'pod-missing-node',
    title: 'a pod bound to a node that does not exist is collected after a while',
    needs: 'controllers',
    isPatient: true,
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a', { spec: { nodeName: 'ghost' } }));
      await bed.eventually(
        'the pod gone',
        async () => ((await bed.request('GET', at(bed, 'pods', 'a'))).status === 404 ? true : undefined),
        90_000,
      );
    },
  },
];
