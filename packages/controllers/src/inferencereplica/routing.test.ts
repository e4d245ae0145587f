import { describe, expect, it } from '@jest/globals';
import { label, selectorLabels } from '@omenative/api';
import { podRecordOf } from './pod-view.js';
import { discoverableOf, type RoutingService, rotationOf, sliceRecordOf } from './routing.js';
import { type RawEndpoint, rawPod, rawSlice } from './testing/objects.js';

const pod = podRecordOf(rawPod());
const { name, uid } = pod.view;

function service(endpoints: readonly RawEndpoint[] | 'none', more: Partial<RoutingService> = {}): RoutingService {
  return {
    name: 'chat-engine',
    selector: selectorLabels('chat', 'engine'),
    sign: 'ready',
    ...(endpoints === 'none' ? {} : { slices: [sliceRecordOf(rawSlice('chat-engine', endpoints))] }),
    ...more,
  };
}

function rotation(...services: readonly RoutingService[]): 'in' | 'out' | undefined {
  return rotationOf([pod], services).get(uid);
}

describe('rotationOf', () => {
  it('is in while an endpoint is ready', () => {
    expect(rotation(service([{ pod: name, uid, conditions: { ready: true } }]))).toBe('in');
  });

  it('reads a missing ready condition as ready', () => {
    expect(rotation(service([{ pod: name, uid }]))).toBe('in');
  });

  it('counts a terminating endpoint that is ready as in [E198]', () => {
    expect(rotation(service([{ pod: name, uid, conditions: { ready: true, terminating: true } }]))).toBe('in');
  });

  it.each([
    ['not ready', [{ pod: name, uid, conditions: { ready: false } }]],
    ['not listed', []],
    ['another pod of that name', [{ pod: name, uid: 'earlier' }]],
  ])('is out when the endpoint is %s', (_, endpoints) => {
    expect(rotation(service(endpoints))).toBe('out');
  });

  it('knows a pod by its name when a slice gives no UID', () => {
    expect(rotation(service([{ pod: name }]))).toBe('in');
  });

  it('knows nothing while a Service has no slices, so the pod is kept [E141]', () => {
    expect(rotation(service('none'))).toBeUndefined();
  });

  it('is out when no Service selects it, as workers are [E141]', () => {
    const leaders = { ...selectorLabels('chat', 'engine'), [label.runner]: 'leader' };
    expect(rotation(service('none', { selector: leaders }))).toBe('out');
    expect(rotation()).toBe('out');
  });

  it('is out once its processes have ended, whatever Services know [E141]', () => {
    const ended = podRecordOf(rawPod({ status: { phase: 'Failed' } }));
    expect(rotationOf([ended], [service('none')]).get(uid)).toBe('out');
    expect(rotationOf([ended], [service([{ pod: name, uid }])]).get(uid)).toBe('out');
  });

  it('is in when one of several Services routes to it, and unknown when one of them knows nothing', () => {
    const out = service([]);
    const other = { name: 'chat-engine-rev-0a1b2c3d' };
    expect(rotation(out, service([{ pod: name, uid }], other))).toBe('in');
    expect(rotation(service('none', other), service([{ pod: name, uid }]))).toBe('in');
    expect(rotation(out, service('none', other))).toBeUndefined();
  });

  it('goes by serving where ready says nothing', () => {
    const conditions = { ready: true, serving: false };
    expect(rotation(service([{ pod: name, uid, conditions }], { sign: 'serving' }))).toBe('out');
    expect(rotation(service([{ pod: name, uid, conditions }]))).toBe('in');
  });

  it('lets a Service without a selector select nothing', () => {
    expect(rotation(service([{ pod: name, uid }], { selector: {} }))).toBe('out');
  });
});

describe('sliceRecordOf', () => {
  it('leaves endpoints out that are no pods', () => {
    const raw = { metadata: { name: 's' }, endpoints: [{ targetRef: { kind: 'Node', name: 'n' } }, { addresses: [] }] };
    expect(sliceRecordOf(raw).endpoints).toEqual([]);
  });
});

function slicesWith(conditions: Readonly<Record<string, boolean>>) {
  return [sliceRecordOf(rawSlice('h', [{ pod: name, uid, conditions }]))];
}

describe('discoverableOf', () => {
  it('lists pods that the slices publish', () => {
    expect([...discoverableOf([pod], slicesWith({ ready: true }))]).toEqual([uid]);
  });

  it.each([{ ready: true, terminating: true }, { ready: false }])('leaves out %j', (conditions) => {
    expect([...discoverableOf([pod], slicesWith(conditions))]).toEqual([]);
  });
});
