import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { label } from '@omenative/api';
import { demand } from '../demand.js';
import type { Effect, PatchInPlace } from '../effects.js';
import { plan } from '../plan.js';
import type { PlanSpec, PodView, RevisionPayload, Snapshot } from '../snapshot.js';
import { drained, inPlacePolicy, patched } from '../testing/in-place.js';
import { holdOf, shortName } from '../testing/read.js';
import { failedRow, inPlaceRow, parkedRow, recreatingRow } from '../testing/rows.js';
import {
  gang,
  gangPods,
  noon,
  payload,
  pod,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from '../testing/world.js';

const v2 = revisionOf('v2');
const marker = { targetImages: { 'ome-container': 'v2' }, restartCounts: { 'ome-container': 0 } };

function updating(rows: readonly InstanceRow[], pods: readonly PodView[], options: WorldOptions = {}): Snapshot {
  return world({ rows, pods, ...options, spec: { payload: payload('v2'), update: inPlacePolicy, ...options.spec } });
}

const effects = (snapshot: Snapshot): readonly Effect[] =>
  demand(snapshot, snapshot.status).chains.flatMap((chain) => chain.effects);

/** What the rows as persisted ask of these pods. */
function asks(rows: readonly InstanceRow[], pods: readonly PodView[], options: WorldOptions = {}): readonly string[] {
  return effects(updating(rows, pods, options)).map((effect) => {
    if (effect.do === 'gate') return `${effect.change === 'add' ? 'out' : 'in'} ${shortName(effect.pod.name)}`;
    if (effect.do === 'createPod') return `create ${shortName(effect.name)}/${effect.incarnation}`;
    return `${effect.do} ${'pod' in effect ? shortName(effect.pod.name) : ''}`;
  });
}

const patchOf = (pods: readonly PodView[], options: WorldOptions = {}): PatchInPlace | undefined =>
  effects(updating([inPlaceRow(0)], pods, options)).find((effect) => effect.do === 'patchInPlace');
const keepReady: Partial<PlanSpec> = { update: { ...inPlacePolicy, inPlace: 'keepReady' } };

/** The template of `image`, with annotations and a protocol of its own. */
function annotated(image: string, annotations: Readonly<Record<string, string>>): RevisionPayload {
  const template = { metadata: { annotations }, spec: { containers: [{ name: 'ome-container', image }] } };
  return { runners: [{ name: 'default', size: 1, template }], pairingProtocol: `p-${image}` };
}

describe('an update in place', () => {
  const row = [inPlaceRow(0)];

  it('takes the pod out of rotation before it is patched [E40] [B13]', () => {
    expect(asks(row, [pod()])).toEqual(['out 0-default-0']);
    expect(asks(row, [drained])).toEqual(['patchInPlace 0-default-0']);
  });

  it.each<[string, PodView, WorldOptions]>([
    ['it is still Ready', { ...drained, ready: true }, {}],
    ['nobody knows whether a Service lists it', drained, { rotation: 'unknown' }],
    ['its gate can not be read', pod({ gate: { state: 'malformed', message: '' } }), {}],
  ])('waits while %s [E40]', (_, one, options) => {
    expect(asks(row, [one], options)).toEqual([]);
  });

  it('patches a pod in rotation where the user wants it to stay there [E40]', () => {
    expect(asks(row, [pod()], { spec: keepReady })).toEqual(['patchInPlace 0-default-0']);
  });

  it('puts the record, the image and the labels into one patch of that very version [E33]', () => {
    expect(patchOf([drained])).toMatchObject({
      pod: { name: drained.name, uid: drained.uid, resourceVersion: '1' },
      covers: { by: 'operation', index: 0, id: 'update-0' },
      images: { 'ome-container': 'v2' },
      marker,
      labels: { [label.revisionHash]: v2.slice(-8) },
      annotations: {},
    });
  });

  it('repairs an image that somebody else has changed, though its own revisions agree on it [E33]', () => {
    const drifted = patched({ wanted: 'mine', running: 'mine', image: 'v2' });
    expect(patchOf([drifted])).toMatchObject({ images: { 'ome-container': 'v2' }, marker });
  });

  it('asks nothing of containers that its template does not have: a sidecar is of whoever put it in [B87]', () => {
    const sidecar = { ...(drained.containers[0] as PodView['containers'][0]), name: 'istio-proxy', image: 'proxy' };
    const init = { ...sidecar, name: 'ome-container', kind: 'init' as const };
    expect(patchOf([{ ...drained, containers: [...drained.containers, sidecar, init] }])?.images).toEqual({
      'ome-container': 'v2',
    });
  });

  it('counts restarts before the patch of containers that are ready, and of no other [E37]', () => {
    const [container] = drained.containers as [PodView['containers'][0]];
    const counted = (ready: boolean) =>
      patchOf([{ ...drained, containers: [{ ...container, ready, restartCount: 7 }] }])?.marker?.restartCounts;
    expect([counted(true), counted(false)]).toEqual([{ 'ome-container': 7 }, {}]);
  });

  it('counts no restarts while an earlier change is on its way: that restart is still to come', () => {
    const containers = drained.containers.map((one) => ({ ...one, runningImage: 'v0' }));
    const moments: readonly Partial<PodView>[] = [{ containers }, { isUnobserved: true }];
    const counted = moments.map((over) => patchOf([{ ...drained, ...over }])?.marker?.restartCounts);
    expect(counted).toEqual([{}, {}]);
  });

  it('changes the annotations that its revisions own, and the protocol, and leaves those of others [B25]', () => {
    const [from, to] = [annotated('v1', { gone: '1', kept: '1' }), annotated('v2', { kept: '2' })];
    const snapshot = updating([inPlaceRow(0)], [drained], { spec: { payload: to } });
    const stored = snapshot.revisions.get(revisionOf('v1'));
    if (stored === undefined || stored === 'gone') throw new Error('v1 is not stored');
    const rows = [inPlaceRow(0, 'v1', 'v2', { op: { target: snapshot.specRevision } })];
    const revisions = new Map([[revisionOf('v1'), { ...stored, payload: from }]]);
    const status = { ...snapshot.status, rows: new Map(rows.map((one) => [one.index, one])) };
    expect(effects({ ...snapshot, revisions, status })).toMatchObject([
      { annotations: { gone: null, kept: '2' }, labels: { [label.pairingProtocol]: 'p-v2' } },
    ]);
  });

  it('takes the protocol off where the new revision has none', () => {
    expect(patchOf([drained])?.labels).toHaveProperty([label.pairingProtocol], null);
  });

  it('labels a pod that stays in rotation only once it runs the new image [B14]', () => {
    const asked = (running: string): PatchInPlace | undefined =>
      patchOf([patched({ image: 'v1', running, marker, health: 'serving', gate: { state: 'true' } })], {
        spec: keepReady,
      });
    expect(patchOf([pod()], { spec: keepReady })?.labels).toEqual({});
    expect(asked('v1')).toBeUndefined();
    expect(asked('v2')).toMatchObject({ images: {}, labels: { [label.revisionHash]: v2.slice(-8) } });
  });

  it('lets the pod in again once the kubelet runs what was asked for, and not before [E34] [B13]', () => {
    const { gate } = drained;
    expect(asks(row, [patched({ running: 'v1', gate })])).toEqual([]);
    expect(asks(row, [patched({ running: 'v2', health: 'starting', gate })])).toEqual([]);
    expect(asks(row, [patched({ running: 'v2', gate })])).toEqual(['in 0-default-0']);
  });

  it('takes its record off only after the Ready row is stored [E35]', () => {
    const marked = patched({ running: 'v2', marker, health: 'serving', gate: { state: 'true' } });
    expect(asks(row, [marked])).toEqual([]);
    expect(asks([failedRow(0, 'v2', 'v2')], [marked])).toEqual([]);
    expect(asks([readyRow(0, 'v2')], [marked])).toEqual(['dropMarker 0-default-0']);
    expect(asks([readyRow(0, 'v2')], [{ ...marked, inPlace: marker, deletionAt: noon }])).toEqual([]);
  });

  it('follows a new target before the pod is patched: out of rotation for nothing, it is let in again [B88]', () => {
    const back = inPlaceRow(0, 'v1', 'v1');
    expect(asks([back], [drained], { spec: { payload: payload('v1') } })).toEqual(['in 0-default-0']);
  });

  it('writes new images over those that are not confirmed yet [E36]', () => {
    const rows = [inPlaceRow(0, 'v1', 'v0')];
    const snapshot = updating(rows, [patched({ marker })], { spec: { payload: payload('v0') } });
    expect(effects(snapshot)).toMatchObject([
      { images: { 'ome-container': 'v0' }, marker: { targetImages: { 'ome-container': 'v0' } } },
    ]);
  });
});

describe('a pod whose update in place failed', () => {
  it('is kept as it is, out of rotation while nobody knows what it runs, and let in when it comes right', () => {
    expect(asks([parkedRow(0)], [patched()])).toEqual([]);
    expect(asks([parkedRow(0)], [patched({ running: 'v2' })])).toEqual(['in 0-default-0']);
    expect(asks([parkedRow(0)], [patched({ health: 'failed' })])).toEqual([]);
  });
});

/** The same pods in the second life of their Instance. */
function second(pods: readonly PodView[]): readonly PodView[] {
  return pods.map((one) => ({ ...one, incarnation: 2 }));
}

describe('a recreate', () => {
  const runners = gang(1);
  const spec = { runners, payload: payload('v2', runners) };
  const row = [recreatingRow(0, 'v1', 'v2', { runners })];
  const gone = gangPods(0, 1, 'drained').map(
    (one): PodView => ({
      ...one,
      gate: { state: 'false', holds: [{ writer: 'UpdateRecreateDrain', key: '0-2' }] },
    }),
  );

  it('drains all old pods, deletes them when all are out, and makes no new one before all are gone [E79] [B13]', () => {
    const [leader, worker] = gone as [PodView, PodView];
    expect(asks(row, gangPods(0, 1, 'serving'), { spec })).toEqual(['out 0-leader-0', 'out 0-worker-0']);
    expect(asks(row, [leader, { ...worker, ready: true }], { spec })).toEqual([]);
    expect(asks(row, gone, { spec })).toEqual(['deletePod 0-leader-0', 'deletePod 0-worker-0']);
    expect(asks(row, [{ ...worker, deletionAt: noon }], { spec })).toEqual([]);
    expect(asks(row, [], { spec })).toEqual(['create 0-leader-0/2', 'create 0-worker-0/2']);
    expect(asks(row, [], { spec, proofs: 'none' })).toEqual([]);
  });

  it('lets the new life in as one, the leader last [E80]', () => {
    const fresh = second(gangPods(0, 1, 'containersReady', 'v2'));
    expect(asks(row, fresh, { spec })).toEqual(['in 0-worker-0', 'in 0-leader-0']);
    const [leader, worker] = fresh as [PodView, PodView];
    expect(asks(row, [leader, { ...worker, containersReady: false }], { spec })).toEqual([]);
  });

  it('tears down a half-built set of an earlier try', () => {
    const half = second(gangPods(0, 1, 'starting', 'v0')).slice(0, 1);
    const third = [recreatingRow(0, 'v1', 'v2', { runners, row: { incarnation: 3 } })];
    expect(asks(third, half, { spec })).toEqual(['deletePod 0-leader-0']);
  });

  it('touches no pod of a gang while one of them names no life, whatever the others are [E85]', () => {
    const [leader, worker] = gangPods(0, 1, 'serving') as [PodView, PodView];
    const { incarnation: _, ...orphan } = worker;
    expect(asks(row, [leader, orphan], { spec })).toEqual([]);
    expect(holdOf(plan(updating(row, [leader, orphan], { spec })), 'Orphan')?.text).toContain('label or delete it');
  });
});
