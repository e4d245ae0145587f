import { describe, expect, it } from '@jest/globals';
import { specRevisionName } from '@omenative/engine';
import type { JsonRecord } from '../shared/json.js';
import { replicaRecordOf } from './replica-record.js';
import { type SpecDefaults, type SpecView, specViewOf, teardownViewOf } from './spec-view.js';
import { rawReplica, template } from './testing/objects.js';

type Ok = SpecView & { readonly ok: true };

function viewOf(spec: JsonRecord, defaults: SpecDefaults = {}, metadata: JsonRecord = {}): Ok {
  const view = specViewOf(
    replicaRecordOf(rawReplica({ spec, metadata })),
    defaults,
    (name) => name === 'chat-engine-01234567',
  );
  if (!view.ok) throw new Error(view.message);
  return view;
}

const gang = {
  runners: [
    { name: 'worker', size: 3, template: template() },
    { name: 'leader', size: 1, template: template() },
  ],
};

describe('specViewOf', () => {
  it('fills in the defaults of a single-pod component [E25]', () => {
    const { spec } = viewOf({});
    expect(spec).toMatchObject({
      component: 'engine',
      owner: 'chat',
      replicas: 1,
      minReadySeconds: 0,
      runners: [{ name: 'default', size: 1 }],
      restartPolicy: 'None',
      update: { type: 'SurgeThenDrain', partition: 0, inPlace: 'markNotReady' },
      pause: 'running',
    });
    for (const unset of ['instanceReadyTimeoutSec', 'rollbackTo', 'revisionHistoryLimit']) {
      expect(spec).not.toHaveProperty(unset);
    }
    expect(spec.update).not.toHaveProperty('maxSurge');
  });

  it('puts the leader first and restarts a gang as a whole [E25]', () => {
    const { spec } = viewOf(gang);
    expect(spec.runners).toEqual([
      { name: 'leader', size: 1 },
      { name: 'worker', size: 3 },
    ]);
    expect(spec.restartPolicy).toBe('RecreateInstanceOnPodRestart');
  });

  it.each([
    [undefined, 1],
    [0, 1],
    [7, 7],
  ])('runs %j replicas as %d', (replicas, wanted) => {
    expect(viewOf({ replicas }).spec.replicas).toBe(wanted);
  });

  it('is named after a standalone replica itself', () => {
    expect(viewOf({ parentRef: undefined }).spec.owner).toBe('chat-engine');
  });

  it.each([
    ['10m', 600],
    ['1500ms', 1],
    ['1ms', 1],
    ['0s', 1800],
    ['-5s', 1800],
    ['30', 1800],
    [undefined, 1800],
  ])('reads instanceReadyTimeout %j as %d s beside an operator default of 1800 s', (instanceReadyTimeout, sec) => {
    const { spec } = viewOf({ lifecycle: { instanceReadyTimeout } }, { instanceReadyTimeoutSec: 1800 });
    expect(spec.instanceReadyTimeoutSec).toBe(sec);
  });

  it.each([
    [{}, { partition: 2 }, 2],
    [{ partition: 1 }, { partition: 2 }, 1],
    [{ partition: 0 }, { partition: 2 }, 0],
    [{}, {}, 0],
  ])('takes the partition of pacing %j over %j [E149]', (pacing, rollingUpdate, partition) => {
    const { spec } = viewOf({ pacing, lifecycle: { updateStrategy: { rollingUpdate } } });
    expect(spec.update.partition).toBe(partition);
  });

  it.each([
    [{ paused: true }, 'recover'],
    [{ paused: true, pauseMode: 'Recover' }, 'recover'],
    [{ paused: true, pauseMode: 'Freeze' }, 'freeze'],
    [{ pauseMode: 'Freeze' }, 'running'],
  ])('reads the pause %j', (spec, pause) => {
    expect(viewOf(spec).spec.pause).toBe(pause);
  });

  it('reads budgets and the in-place switch', () => {
    const updateStrategy = {
      type: 'InPlaceIfPossible',
      rollingUpdate: { maxSurge: 0, maxUnavailable: '25%' },
      inPlaceUpdateStrategy: { markNotReadyDuringLifecycle: false },
    };
    expect(viewOf({ lifecycle: { updateStrategy } }).spec.update).toEqual({
      type: 'InPlaceIfPossible',
      partition: 0,
      maxSurge: 0,
      maxUnavailable: '25%',
      inPlace: 'keepReady',
    });
  });

  it('rolls back to a stored revision only, by its name or its hash', () => {
    for (const rollbackToRevision of ['chat-engine-01234567', '01234567']) {
      expect(viewOf({ pacing: { rollbackToRevision } }).spec.rollbackTo).toBe('chat-engine-01234567');
    }
    expect(viewOf({ pacing: { rollbackToRevision: 'other' } }).spec).not.toHaveProperty('rollbackTo');
  });

  it.each([
    [{ runners: [] }, 'TemplateSourceMissing'],
    [{ runners: undefined, modelRef: { name: 'm' } }, 'TemplateSourceMissing'],
    [{ runners: [{ name: 'leader', template: {} }] }, 'RenderFailed'],
    [{ runners: [{ name: 'worker', template: {} }] }, 'RenderFailed'],
    [{ component: 'cook' }, 'RenderFailed'],
  ])('says why %j cannot be run', (spec, reason) => {
    const view = specViewOf(replicaRecordOf(rawReplica({ spec })), {}, () => false);
    expect(view).toMatchObject({ ok: false, reason });
  });

  it('can take down what it cannot run', () => {
    expect(teardownViewOf(replicaRecordOf(rawReplica({ spec: { runners: [] } }))).spec.owner).toBe('chat');
  });
});

function hashOf(spec: JsonRecord, metadata: JsonRecord = {}): string {
  return specRevisionName(viewOf(spec, {}, metadata).spec, 0);
}

function withMetadata(metadata: JsonRecord): JsonRecord {
  return { runners: [{ name: 'default', size: 1, template: { ...template(), metadata } }] };
}

describe('the revision of a spec', () => {
  const base = hashOf({});

  it.each([
    ['the image', { runners: [{ name: 'default', size: 1, template: template('e:2') }] }],
    ['a label', withMetadata({ labels: { team: 'a' } })],
    ['an annotation', withMetadata({ annotations: { note: 'a' } })],
    ['the pairing protocol', { pairingProtocol: 'v2' }],
  ])('changes with %s', (_, spec) => {
    expect(hashOf(spec)).not.toBe(base);
  });

  it.each([
    ['replicas', { replicas: 5 }],
    ['the lifecycle', { lifecycle: { restartPolicy: 'None', updateStrategy: { type: 'RecreatePod' } } }],
    ['pause and pacing', { paused: true, pacing: { partition: 3 } }],
    ['the spread', { topologySpread: 'Required', topologySpreadKey: 'zone' }],
    ['the topology key of a single pod', { topologyKey: 'rack' }],
    ['a queue label', withMetadata({ labels: { 'kueue.x-k8s.io/queue-name': 'q' } })],
    ['rollout verbs', withMetadata({ annotations: { 'ome.io/rollout-promote': 'x' } })],
    ['empty metadata', withMetadata({ labels: {}, annotations: {} })],
  ])('does not change with %s [B26]', (_, spec) => {
    expect(hashOf(spec)).toBe(base);
  });

  it('does not change with annotations that the replica names as excluded', () => {
    const metadata = { annotations: { 'ome.io/revision-excluded-annotation-keys': 'a/x, b/y' } };
    const annotations = { 'a/x': '1', 'b/y': '2' };
    expect(hashOf(withMetadata({ annotations }), metadata)).toBe(base);
    expect(viewOf(withMetadata({ annotations }), {}, metadata).live.metadata.annotations).toEqual(annotations);
  });

  it('changes with the size and the topology key of a gang [B68]', () => {
    const [worker, leader] = gang.runners;
    expect(hashOf({ runners: [leader, { ...worker, size: 4 }] })).not.toBe(hashOf(gang));
    expect(hashOf({ ...gang, topologyKey: 'rack' })).not.toBe(hashOf(gang));
  });
});
