import { describe, expect, it } from '@jest/globals';
import { annotation, label } from '@omenative/api';
import type { PodView } from '@omenative/engine';
import { isProofOfDeletion, podRecordOf, strayIndex } from './pod-view.js';
import { rawPod, servingConditions } from './testing/objects.js';

function marked(text: string): PodView {
  return podRecordOf(rawPod({ metadata: { annotations: { [annotation.inPlaceTransition]: text } } })).view;
}

describe('podRecordOf', () => {
  it('projects a pod in rotation', () => {
    const raw = rawPod({
      index: 3,
      ordinal: 1,
      metadata: { finalizers: ['x/y'] },
      spec: {
        nodeName: 'node-1',
        initContainers: [{ name: 'fetch', image: 'i:1' }],
        containers: [{ name: 'main', image: 'e:2' }],
      },
      status: {
        phase: 'Running',
        conditions: servingConditions(),
        initContainerStatuses: [
          {
            name: 'fetch',
            ready: true,
            state: { terminated: { reason: 'Completed', exitCode: 0, finishedAt: '2026-01-01T00:00:30Z' } },
          },
        ],
        containerStatuses: [
          {
            name: 'main',
            ready: true,
            restartCount: 2,
            image: 'registry/engine:1',
            imageID: 'sha256:1',
            state: { running: { startedAt: '2026-01-01T00:00:40Z' } },
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, message: 'm' } },
          },
        ],
      },
    });
    const { view } = podRecordOf(raw);
    expect(view).toEqual({
      name: 'chat-engine-3-default-1',
      uid: 'pod-uid-3-default-1',
      resourceVersion: '50',
      createdAt: 1_767_225_600,
      index: 3,
      incarnation: 1,
      runner: 'default',
      revisionHash: '0a1b2c3d',
      node: 'node-1',
      phase: 'Running',
      statusReason: '',
      statusMessage: '',
      finalizers: ['x/y'],
      gated: false,
      containersReady: true,
      ready: true,
      readyChangedAt: 1_767_225_660,
      gate: { state: 'true' },
      containers: [
        {
          name: 'fetch',
          kind: 'init',
          ready: true,
          restartCount: 0,
          image: 'i:1',
          imageID: '',
          runningImage: '',
          terminated: { reason: 'Completed', exitCode: 0, message: '', finishedAt: 1_767_225_630 },
        },
        {
          name: 'main',
          kind: 'regular',
          ready: true,
          restartCount: 2,
          image: 'e:2',
          imageID: 'sha256:1',
          runningImage: 'registry/engine:1',
          lastTerminated: { reason: 'OOMKilled', exitCode: 137, message: 'm' },
        },
      ],
    });
  });

  it.each(['', 'x', '-1', '01', '1.5', '99999999999999999999'])('makes a stray of a pod whose index is %j', (index) => {
    expect(podRecordOf(rawPod({ labels: { [label.instanceIndex]: index } })).view.index).toBe(strayIndex);
  });

  it('says nothing about a life or a runner that the labels do not tell', () => {
    const { view } = podRecordOf(rawPod({ labels: { [label.incarnation]: 'x', [label.runner]: 'x' } }));
    expect(view).not.toHaveProperty('incarnation');
    expect(view).not.toHaveProperty('runner');
  });

  it('reads a scheduling gate, an unschedulable pod and a waiting container', () => {
    const { view } = podRecordOf(
      rawPod({
        spec: { schedulingGates: [{ name: 'q' }], containers: [{ name: 'main', image: 'e' }] },
        status: {
          phase: 'Pending',
          conditions: [
            {
              type: 'PodScheduled',
              status: 'False',
              reason: 'Unschedulable',
              message: 'no room',
              lastTransitionTime: '2026-01-01T00:00:10Z',
            },
          ],
          containerStatuses: [{ name: 'main', state: { waiting: { reason: 'ImagePullBackOff', message: 'b' } } }],
        },
      }),
    );
    expect(view.gated).toBe(true);
    expect(view.unschedulable).toEqual({ since: 1_767_225_610, message: 'no room' });
    expect(view.containers[0]?.waiting).toEqual({ reason: 'ImagePullBackOff', message: 'b' });
  });

  it('does not take a scheduling gate for an unschedulable pod', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }];
    expect(podRecordOf(rawPod({ status: { conditions } })).view).not.toHaveProperty('unschedulable');
  });

  it.each([
    ['runs', { running: { startedAt: '2026-01-01T00:00:40Z' } }, 'e:2'],
    ['waits to run it', { waiting: { reason: 'ImagePullBackOff' } }, ''],
    ['has ended', { terminated: { exitCode: 1 } }, ''],
    ['says nothing of itself', undefined, ''],
  ])('believes an image of a container that %s [E34] [B84]', (_, state, runningImage) => {
    const status = { containerStatuses: [{ name: 'main', image: 'e:2', ...(state && { state }) }] };
    expect(podRecordOf(rawPod({ status })).view.containers[0]?.runningImage).toBe(runningImage);
  });

  it('reads the record of an update in place, and nothing where it can not be read', () => {
    expect(marked('{"targetImages":{"main":"e:2"},"restartCounts":{"main":3}}').inPlace).toEqual({
      targetImages: { main: 'e:2' },
      restartCounts: { main: 3 },
    });
    expect(marked('oops')).not.toHaveProperty('inPlace');
  });

  it.each([undefined, 'New'])('reads the phase %j as Unknown', (phase) => {
    expect(podRecordOf(rawPod({ status: { phase } })).view.phase).toBe('Unknown');
  });

  it('tells whether the kubelet reports on the spec as it is now, where it says so at all', () => {
    const seen = [2, 3, undefined].map(
      (observedGeneration) =>
        podRecordOf(rawPod({ metadata: { generation: 3 }, status: { observedGeneration } })).view.isUnobserved,
    );
    expect(seen).toEqual([true, undefined, undefined]);
  });

  it('survives an object without spec and status', () => {
    expect(podRecordOf({ metadata: { name: 'x', uid: 'u' } }).view).toMatchObject({
      name: 'x',
      phase: 'Unknown',
      containers: [],
    });
  });
});

describe('isProofOfDeletion', () => {
  it.each([
    ['a dying pod', rawPod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), true],
    ['a pod that has ended', rawPod({ status: { phase: 'Failed' } }), true],
    ['a pod that ran on: it left the selector', rawPod(), false],
  ])('%s', (_, raw, proof) => {
    expect(isProofOfDeletion(raw)).toBe(proof);
  });
});
