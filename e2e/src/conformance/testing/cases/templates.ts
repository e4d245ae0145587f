/** Pods that a template can ask for and the server refuses: the field, and the words. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, idlePod, type Json } from '../bed.js';

/** What the server says to a pod whose one container has these fields. */
async function refusal(bed: Bed, container: Json, spec: Json = {}): Promise<unknown> {
  const containers = [{ name: 'main', image: 'busybox:v1', ...container }];
  const body = idlePod('x', { spec: { containers, ...spec } });
  const answer = await bed.request('POST', at(bed, 'pods'), { body, query: { dryRun: 'All' } });
  return answer.status === 201 ? 'accepted' : answer.body['message'];
}

const MAIN = 'Pod "x" is invalid: spec.containers[0]';
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const limited = (limits: Json, requests: Json = {}): Json => ({ resources: { limits, requests } });

export const templates: readonly Case[] = [
  {
    id: 'template-resources',
    title: 'requests above their limits, devices without limits or in parts, huge pages alone are Invalid',
    needs: 'api',
    run: async (bed) => {
      const says = (limits: Json, requests?: Json) => refusal(bed, limited(limits, requests));
      expect(await says({ cpu: '1' }, { cpu: '2' })).toBe(
        `${MAIN}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
      );
      expect(await says({ 'nvidia.com/gpu': '2' }, { 'nvidia.com/gpu': '1' })).toBe(
        `${MAIN}.resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2`,
      );
      expect(await says({}, { 'nvidia.com/gpu': '1' })).toBe(
        `${MAIN}.resources.limits: Required value: Limit must be set for non overcommitable resources`,
      );
      const inParts = ['limits', 'requests'].map(
        (list) => `spec.containers[0].resources.${list}[nvidia.com/gpu]: Invalid value: "500m": must be an integer`,
      );
      expect(await says({ 'nvidia.com/gpu': '500m' })).toBe(`Pod "x" is invalid: [${inParts.join(', ')}]`);
      expect(await says({ 'hugepages-2Mi': '2Mi' })).toBe(
        `${MAIN}.resources: Forbidden: HugePages require cpu or memory`,
      );
      expect(await says({ 'hugepages-2Mi': '4Mi', memory: '1Gi' }, { 'hugepages-2Mi': '2Mi' })).toBe(
        `${MAIN}.resources.requests: Invalid value: "2Mi": must be equal to hugepages-2Mi limit of 4Mi`,
      );
      expect(await says({ cpu: '-1' })).toContain(
        'limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      );
      expect(await says({ gpu: '1' })).toContain('"gpu": must be a standard resource type or fully qualified');
      expect(await says({ cpu: '1', 'nvidia.com/gpu': 8, memory: '64Gi' })).toBe('accepted');
    },
  },
  {
    id: 'template-quantity',
    title: 'an amount that is no quantity is a bad request',
    needs: 'api',
    run: async (bed) => {
      const message =
        'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression \'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\'';
      expect(await refusal(bed, limited({ memory: '64GB' }))).toBe(message);
      expect(await refusal(bed, limited({ memory: '64 Gi' }))).toBe(message);
    },
  },
  {
    id: 'template-containers',
    title: 'names of containers are unique labels, init containers included; images and pull policies are checked',
    needs: 'api',
    run: async (bed) => {
      expect(await refusal(bed, { name: 'Main_1' })).toBe(`${MAIN}.name: Invalid value: "Main_1": ${LABEL}`);
      const initContainers = [{ name: 'main', image: 'x' }];
      expect(await refusal(bed, {}, { initContainers })).toBe(
        'Pod "x" is invalid: spec.initContainers[0].name: Duplicate value: "main"',
      );
      expect(await refusal(bed, { imagePullPolicy: 'Sometimes' })).toBe(
        `${MAIN}.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"`,
      );
      expect(await refusal(bed, { image: ' x' })).toBe(
        `${MAIN}.image: Invalid value: " x": must not have leading or trailing whitespace`,
      );
    },
  },
  {
    id: 'template-env',
    title: 'names of variables hold no = and are not empty; a value has one source',
    needs: 'api',
    run: async (bed) => {
      const says = (variable: Json) => refusal(bed, { env: [variable] });
      expect(await says({ name: 'A=B', value: 'x' })).toBe(
        `${MAIN}.env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
      );
      expect(await says({ value: 'x' })).toBe(`${MAIN}.env[0].name: Required value`);
      const valueFrom = { fieldRef: { fieldPath: 'metadata.name' } };
      expect(await says({ name: 'A', value: 'x', valueFrom })).toBe(
        `${MAIN}.env[0].valueFrom: Invalid value: "": may not be specified when \`value\` is not empty`,
      );
      expect(await says({ name: '1 a.b', value: 'x' })).toBe('accepted');
    },
  },
  {
    id: 'template-ports',
    title: 'ports have numbers and short, unique names; the same number twice is accepted',
    needs: 'api',
    run: async (bed) => {
      const says = (...ports: Json[]) => refusal(bed, { ports });
      expect(await says({ name: 'a' })).toBe(`${MAIN}.ports[0].containerPort: Required value`);
      expect(await says({ containerPort: 70_000 })).toBe(
        `${MAIN}.ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive`,
      );
      expect(await says({ containerPort: 80, name: 'Bad_Name' })).toBe(
        `${MAIN}.ports[0].name: Invalid value: "Bad_Name": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
      );
      expect(await says({ containerPort: 80, name: 'a-name-far-too-long' })).toBe(
        `${MAIN}.ports[0].name: Invalid value: "a-name-far-too-long": must be no more than 15 characters`,
      );
      expect(await says({ containerPort: 80, name: 'a' }, { containerPort: 81, name: 'a' })).toBe(
        `${MAIN}.ports[1].name: Duplicate value: "a"`,
      );
      expect(await says({ containerPort: 80 }, { containerPort: 80 })).toBe('accepted');
    },
  },
  {
    id: 'template-volumes',
    title: 'a mount needs its volume and a path of its own; volumes have unique names',
    needs: 'api',
    run: async (bed) => {
      const v = { name: 'v', emptyDir: {} };
      const says = (volumes: Json[], ...volumeMounts: Json[]) => refusal(bed, { volumeMounts }, { volumes });
      expect(await says([v], { name: 'none', mountPath: '/x' })).toBe(
        `${MAIN}.volumeMounts[0].name: Not found: "none"`,
      );
      expect(await says([v], { name: 'v' })).toBe(`${MAIN}.volumeMounts[0].mountPath: Required value`);
      expect(await says([v], { name: 'v', mountPath: '/x' }, { name: 'v', mountPath: '/x' })).toBe(
        `${MAIN}.volumeMounts[1].mountPath: Invalid value: "/x": must be unique`,
      );
      expect(await says([v, v])).toBe('Pod "x" is invalid: spec.volumes[1].name: Duplicate value: "v"');
    },
  },
  {
    id: 'template-probes',
    title: 'a probe has one handler and a port that exists; init containers have none unless they run on',
    needs: 'api',
    run: async (bed) => {
      const httpGet = { port: 80 };
      expect(await refusal(bed, { readinessProbe: { periodSeconds: 5 } })).toBe(
        `${MAIN}.readinessProbe: Required value: must specify a handler type`,
      );
      expect(await refusal(bed, { readinessProbe: { exec: { command: ['a'] }, httpGet } })).toBe(
        `${MAIN}.readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type`,
      );
      expect(await refusal(bed, { readinessProbe: { httpGet: { port: 0 } } })).toBe(
        `${MAIN}.readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
      );
      expect(await refusal(bed, { livenessProbe: { httpGet, successThreshold: 2 } })).toBe(
        `${MAIN}.livenessProbe.successThreshold: Invalid value: 2: must be 1`,
      );
      const init = { name: 'init', image: 'x', readinessProbe: { httpGet } };
      expect(await refusal(bed, {}, { initContainers: [init] })).toBe(
        'Pod "x" is invalid: spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
      );
      expect(await refusal(bed, {}, { initContainers: [{ ...init, restartPolicy: 'Always' }] })).toBe('accepted');
    },
  },
  {
    id: 'template-pre-stop',
    title: 'a sleep before the end takes no longer than the grace',
    needs: 'api',
    run: async (bed) => {
      const says = (seconds: number) => {
        const lifecycle = { preStop: { sleep: { seconds } } };
        return refusal(bed, { lifecycle }, { terminationGracePeriodSeconds: 4 });
      };
      expect(await says(5)).toBe(
        `${MAIN}.lifecycle.preStop.sleep: Invalid value: 5: must be non-negative and less than terminationGracePeriodSeconds (4)`,
      );
      expect(await says(4)).toBe('accepted');
    },
  },
  {
    id: 'template-placement',
    title: 'selectors are labels, tolerations of anything have no value, hosts have names of hosts',
    needs: 'api',
    run: async (bed) => {
      expect(await refusal(bed, {}, { nodeSelector: { disk: 'very fast' } })).toMatch(
        /^Pod "x" is invalid: spec.nodeSelector: Invalid value: "very fast": a valid label must be an empty string or/,
      );
      expect(await refusal(bed, {}, { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] })).toBe(
        'Pod "x" is invalid: spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\'',
      );
      expect(await refusal(bed, {}, { hostname: 'Bad_Host' })).toBe(
        `Pod "x" is invalid: spec.hostname: Invalid value: "Bad_Host": ${LABEL}`,
      );
    },
  },
  {
    id: 'template-references',
    title: 'a service account and a priority class must exist, and that is asked before anything is validated',
    needs: 'api',
    run: async (bed) => {
      const invalid = { imagePullPolicy: 'Sometimes' };
      expect(await refusal(bed, invalid, { serviceAccountName: 'nobody' })).toBe(
        `pods "x" is forbidden: error looking up service account ${bed.namespace}/nobody: serviceaccount "nobody" not found`,
      );
      expect(await refusal(bed, invalid, { priorityClassName: 'nothing' })).toBe(
        'pods "x" is forbidden: no PriorityClass with name nothing was found',
      );
      const body = idlePod('x', { spec: { priorityClassName: 'system-node-critical' } });
      const query = { dryRun: 'All' };
      const critical = await bed.request('POST', at(bed, 'pods'), { body, query });
      expect(critical.body['spec']).toMatchObject({ priority: 2_000_001_000 });
    },
  },
  {
    id: 'template-many',
    title: 'all faults are told at once',
    needs: 'api',
    run: async (bed) => {
      const containers = [{ name: 'a', imagePullPolicy: 'No' }];
      const body = idlePod('x', { spec: { containers } });
      const answer = await bed.request('POST', at(bed, 'pods'), { body });
      expect(answer).toMatchObject({
        status: 422,
        body: {
          reason: 'Invalid',
          message:
            'Pod "x" is invalid: [spec.containers[0].image: Required value, spec.containers[0].imagePullPolicy: Unsupported value: "No": supported values: "Always", "IfNotPresent", "Never"]',
          details: {
            causes: [
              { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers[0].image' },
              { reason: 'FieldValueNotSupported', field: 'spec.containers[0].imagePullPolicy' },
            ],
          },
        },
      });
    },
  },
];
