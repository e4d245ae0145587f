import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergeComponent } from './merge.js';

describe('an InferenceService over a runtime', () => {
  it.each([
    ['scalars: the later word', { runtimeClassName: 'a' }, { runtimeClassName: 'b' }, { runtimeClassName: 'b' }],
    [
      'zero and false are words too',
      { minReplicas: 3, hostNetwork: true },
      { minReplicas: 0, hostNetwork: false },
      { minReplicas: 0, hostNetwork: false },
    ],
    ['null is no word', { minReplicas: 3 }, { minReplicas: null }, { minReplicas: 3 }],
    [
      'labels by key',
      { labels: { a: '1', b: '1' } },
      { labels: { b: '2', c: '2' } },
      { labels: { a: '1', b: '2', c: '2' } },
    ],
    [
      'nodeSelector by key',
      { nodeSelector: { a: '1' } },
      { nodeSelector: { b: '2' } },
      { nodeSelector: { a: '1', b: '2' } },
    ],
    [
      'tolerations whole',
      { tolerations: [{ key: 'a' }] },
      { tolerations: [{ key: 'b' }] },
      { tolerations: [{ key: 'b' }] },
    ],
    [
      'volumes by name, each whole: a volume has one source',
      {
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', emptyDir: {} },
        ],
      },
      {
        volumes: [
          { name: 'b', hostPath: { path: '/b' } },
          { name: 'c', emptyDir: {} },
        ],
      },
      {
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', hostPath: { path: '/b' } },
          { name: 'c', emptyDir: {} },
        ],
      },
    ],
    [
      'env by name, each whole: a variable has one source',
      {
        runner: {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '1' },
          ],
        },
      },
      { runner: { env: [{ name: 'B', valueFrom: { fieldRef: { fieldPath: 'x' } } }] } },
      {
        runner: {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          ],
        },
      },
    ],
    [
      'ports by number and protocol',
      {
        runner: {
          ports: [
            { containerPort: 80, name: 'http' },
            { containerPort: 53, protocol: 'UDP', name: 'dns' },
          ],
        },
      },
      {
        runner: {
          ports: [
            { containerPort: 80, name: 'web' },
            { containerPort: 53, name: 'dns-tcp' },
          ],
        },
      },
      {
        runner: {
          ports: [
            { containerPort: 80, name: 'web' },
            { containerPort: 53, protocol: 'UDP', name: 'dns' },
            { containerPort: 53, name: 'dns-tcp' },
          ],
        },
      },
    ],
    [
      'volumeMounts by mountPath',
      { runner: { volumeMounts: [{ name: 'a', mountPath: '/a', readOnly: true }] } },
      {
        runner: {
          volumeMounts: [
            { name: 'b', mountPath: '/a' },
            { name: 'a', mountPath: '/c' },
          ],
        },
      },
      {
        runner: {
          volumeMounts: [
            { name: 'b', mountPath: '/a' },
            { name: 'a', mountPath: '/c' },
          ],
        },
      },
    ],
    [
      'command and args whole',
      { runner: { image: 'x', command: ['serve'], args: ['-a', '-b'] } },
      { runner: { args: ['-c'] } },
      { runner: { image: 'x', command: ['serve'], args: ['-c'] } },
    ],
    [
      'requests and limits by key',
      { runner: { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } } },
      { runner: { resources: { requests: { cpu: '3' }, limits: { memory: '2Gi' } } } },
      { runner: { resources: { requests: { cpu: '3', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } } } },
    ],
    [
      'a probe keeps its times under a new handler, and not the old handler',
      { runner: { readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 2 } } },
      { runner: { readinessProbe: { tcpSocket: { port: 81 } } } },
      { runner: { readinessProbe: { tcpSocket: { port: 81 }, periodSeconds: 2 } } },
    ],
    [
      'a probe keeps its handler under new times',
      { runner: { readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 2 } } },
      { runner: { readinessProbe: { periodSeconds: 5 } } },
      { runner: { readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 } } },
    ],
    [
      'a hook whole',
      { runner: { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } } },
      { runner: { lifecycle: { preStop: { sleep: { seconds: 3 } } } } },
      { runner: { lifecycle: { preStop: { sleep: { seconds: 3 } } } } },
    ],
    [
      'sidecars by name',
      { containers: [{ name: 'log', image: 'a', args: ['x'] }] },
      {
        containers: [
          { name: 'log', image: 'b' },
          { name: 'more', image: 'c' },
        ],
      },
      {
        containers: [
          { name: 'log', image: 'b', args: ['x'] },
          { name: 'more', image: 'c' },
        ],
      },
    ],
    [
      'leader and worker like a pod, the size too',
      { worker: { size: 3, runner: { image: 'a', env: [{ name: 'A', value: '1' }] } } },
      { leader: {}, worker: { runner: { env: [{ name: 'B', value: '2' }] } } },
      {
        leader: {},
        worker: {
          size: 3,
          runner: {
            image: 'a',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
        },
      },
    ],
    [
      'the lifecycle leaf by leaf',
      { lifecycle: { updateStrategy: { type: 'RecreatePod', rollingUpdate: { maxUnavailable: 2 } } } },
      { lifecycle: { updateStrategy: { type: 'InPlaceIfPossible' } } },
      { lifecycle: { updateStrategy: { type: 'InPlaceIfPossible', rollingUpdate: { maxUnavailable: 2 } } } },
    ],
    [
      'the autoscaler block whole',
      { autoscaler: { class: 'HPA', hpa: { metrics: [] } } },
      { autoscaler: { class: 'None' } },
      { autoscaler: { class: 'None' } },
    ],
  ])('%s', (_rule, runtime, service, wanted) => {
    expect(mergeComponent(runtime, service)).toEqual(wanted);
  });

  const named = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: fc.string() }), {
    selector: (item) => item.name,
  });
  const ports = fc.uniqueArray(fc.record({ containerPort: fc.constantFrom(80, 81), name: fc.string() }), {
    selector: (item) => item.containerPort,
  });
  const container = fc.record(
    { image: fc.string(), args: fc.array(fc.string()), env: named, ports },
    { requiredKeys: [] },
  );
  const anyComponent = fc.record(
    {
      minReplicas: fc.nat(),
      labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
      tolerations: fc.array(fc.record({ key: fc.string() })),
      volumes: named,
      runner: container,
      worker: fc.record({ size: fc.nat(), runner: container }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );

  it('changes nothing when it says nothing, and is the whole word when the runtime says nothing', () => {
    fc.assert(
      fc.property(anyComponent, (component) => {
        expect(mergeComponent(component, {})).toEqual(component);
        expect(mergeComponent({}, component)).toEqual(component);
      }),
    );
  });

  it('says the same when it says it twice, and touches neither side', () => {
    fc.assert(
      fc.property(anyComponent, anyComponent, (runtime, service) => {
        const before = JSON.stringify([runtime, service]);
        const once = mergeComponent(runtime, service);
        expect(mergeComponent(once, service)).toEqual(once);
        expect(JSON.stringify([runtime, service])).toBe(before);
      }),
    );
  });
});
