import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from '@omenative/api';
import { specRevisionName } from '@omenative/engine';
import { type Observation, observe, type PassContext, type ReplicaWorld } from './observe.js';
import { type PodRecord, podRecordOf } from './pod-view.js';
import { headOf, replicaRecordOf } from './replica-record.js';
import { revisionObject, revisionRecordOf } from './revision-object.js';
import { serviceRecordOf, sliceRecordOf } from './routing.js';
import { specViewOf } from './spec-view.js';
import { rawHeadless, rawPod, rawReplica, rawService, rawSlice, template } from './testing/objects.js';

const replica = replicaRecordOf(rawReplica());
const view = specViewOf(replica, {}, () => false);
if (!view.ok) throw new Error(view.message);
const { spec, live } = view;
const specRevision = specRevisionName(spec, 0);
const ready: InstanceRow = { ...newRowBase(0), kind: 'ready', running: specRevision };
const withRow: DecodedStatus = { ...emptyStatus, rows: new Map([[0, ready]]), order: [0] };

function look(world: Partial<ReplicaWorld> = {}, context: Partial<PassContext> = {}): Observation {
  return observe(
    {
      replica,
      pods: [],
      services: [],
      slicesOf: () => [],
      revisions: [],
      wasSeenDeleted: () => false,
      isCordoned: () => false,
      ...world,
    },
    {
      nowMs: 1_767_225_600_999,
      status: withRow,
      spec,
      live,
      config: {},
      inbox: new Map(),
      blind: new Set(),
      readIndices: new Set(),
      ...context,
    },
  );
}

function revision(name: string, image: string, number = 1) {
  const payload = { runners: [{ name: 'default', size: 1, template: template(image) }] } as const;
  const head = headOf(replica);
  return revisionRecordOf(revisionObject({ replica: head, owner: 'chat', component: 'engine', name, number, payload }));
}

function headlessOf(raw: Parameters<typeof rawHeadless>[0], record = replica) {
  return look({ replica: record, services: [serviceRecordOf(rawHeadless(raw))] }).snapshot.headlessService;
}

describe('observe', () => {
  it('floors the time to whole seconds', () => {
    expect(look().snapshot.now).toBe(1_767_225_600);
  });

  it('files pods by Instance, and strays apart', () => {
    const pods = [
      rawPod(),
      rawPod({ ordinal: 1 }),
      rawPod({ index: 1 }),
      rawPod({ index: 2, labels: { 'ome.io/instance-index': 'x' }, uid: 's' }),
    ];
    const { snapshot } = look({ pods: pods.map(podRecordOf) });
    expect([...snapshot.pods].map(([index, list]) => [index, list.map((pod) => pod.name)])).toEqual([
      [0, ['chat-engine-0-default-0', 'chat-engine-0-default-1']],
      [1, ['chat-engine-1-default-0']],
    ]);
    expect(snapshot.strays.map((pod) => pod.uid)).toEqual(['s']);
  });

  describe('revisions', () => {
    it('holds what is stored, and names what is gone', () => {
      const { snapshot } = look({ revisions: [revision('chat-engine-11111111', 'e:0')] });
      expect([...snapshot.revisions.keys()]).toEqual(['chat-engine-11111111', specRevision]);
      expect(snapshot.revisions.get(specRevision)).toBe('gone');
    });

    it('names revisions of operations, kept ones too, and of blocks', () => {
      const op = {
        type: 'Create',
        step: 'CreatePods',
        id: 'c',
        retryCount: 0,
        reason: '',
        waiting: '',
        carry: {},
      } as const;
      const rows: readonly InstanceRow[] = [
        { ...newRowBase(0), kind: 'creating', op: { ...op, target: 'a' } },
        { ...newRowBase(1), kind: 'failed', kept: { ...op, target: 'b' } },
        { ...newRowBase(2), kind: 'ready', running: 'c', target: 'd' },
      ];
      const status: DecodedStatus = {
        ...emptyStatus,
        current: 'e',
        update: 'f',
        rows: new Map(rows.map((row) => [row.index, row])),
        blocks: [{ target: 'g', state: 'Held', attempts: 1, reason: '', carry: {} }],
      };
      const { snapshot } = look({}, { status });
      expect([...snapshot.revisions.keys()].toSorted()).toEqual(
        ['a', 'b', 'c', specRevision, 'd', 'e', 'f', 'g'].toSorted(),
      );
    });

    it('adopts a stored revision that says the same under another name, so that nothing rolls', () => {
      const { snapshot, collision } = look({
        revisions: [
          revision('chat-engine-22222222', 'registry/engine:1', 2),
          revision('chat-engine-11111111', 'e:0', 1),
        ],
      });
      expect(snapshot.specRevision).toBe('chat-engine-22222222');
      expect(snapshot.target).toBe('chat-engine-22222222');
      expect(collision).toBe('none');
    });

    it('sees that the name of the revision to be holds another template', () => {
      expect(look({ revisions: [revision(specRevision, 'e:0')] }).collision).toBe('name');
      expect(look({ revisions: [revision(specRevision, 'registry/engine:1')] }).collision).toBe('none');
    });

    it('aims at the revision that the user rolls back to', () => {
      const { snapshot } = look({}, { spec: { ...spec, rollbackTo: 'chat-engine-11111111' } });
      expect(snapshot).toMatchObject({ target: 'chat-engine-11111111', specRevision });
    });

    it('numbers the next one after the last', () => {
      expect(look({ revisions: [revision('chat-engine-11111111', 'e:0', 7)] }).nextRevisionNumber).toBe(8);
      expect(look().nextRevisionNumber).toBe(1);
    });
  });

  describe('proofs', () => {
    const seen = { wasSeenDeleted: (pod: string) => pod === 'chat-engine-0-default-0' };

    it('holds the names of pods whose deletion was seen', () => {
      expect([...look(seen).snapshot.proofs.absentPods]).toEqual(['chat-engine-0-default-0']);
    });

    it('holds nothing about a pod that is only not in the cache', () => {
      expect([...look().snapshot.proofs.absentPods]).toEqual([]);
    });

    it('holds nothing about a name that is in use again', () => {
      expect([...look({ ...seen, pods: [podRecordOf(rawPod())] }).snapshot.proofs.absentPods]).toEqual([]);
    });

    it('holds every unused name of an Instance that was read live', () => {
      const { proofs } = look({ pods: [podRecordOf(rawPod())] }, { readIndices: new Set([0, 5]) }).snapshot;
      expect([...proofs.absentPods]).toEqual([
        'chat-engine-0-default-1',
        'chat-engine-5-default-0',
        'chat-engine-5-default-1',
      ]);
      expect([...proofs.readIndices]).toEqual([0, 5]);
    });
  });

  describe('headless Service', () => {
    it.each([
      ['present', {}],
      ['foreign', { owner: 'someone' }],
      ['terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
      ['absent', { spec: { publishNotReadyAddresses: false } }],
      ['absent', { selector: { component: 'engine' } }],
      ['absent', { spec: { ports: [] } }],
      ['present', { spec: { ports: [{ port: 8080 }] } }],
    ] as const)('is %s for %j', (expected, raw) => {
      expect(headlessOf(raw)).toBe(expected);
    });

    it('is absent when it is not there', () => {
      expect(look().snapshot.headlessService).toBe('absent');
    });

    it('is present, drifted or not, once the replica goes: it must be deleted', () => {
      const dying = replicaRecordOf(rawReplica({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
      expect(headlessOf({ spec: { publishNotReadyAddresses: false } }, dying)).toBe('present');
    });
  });

  describe('rotation', () => {
    const pods: readonly PodRecord[] = [podRecordOf(rawPod())];
    const endpoint = { pod: 'chat-engine-0-default-0', uid: 'pod-uid-0-default-0' };
    const slicesOf = (conditions: Record<string, boolean>) => (name: string) => [
      sliceRecordOf(rawSlice(name, [{ ...endpoint, conditions }])),
    ];
    const services = [serviceRecordOf(rawHeadless())];

    it('never goes by the headless Service of a projected replica', () => {
      const { snapshot } = look({ pods, services, slicesOf: slicesOf({ ready: true, serving: true }) });
      expect([...snapshot.rotation.values()]).toEqual(['out']);
      expect([...snapshot.discoverable]).toEqual([endpoint.uid]);
    });

    it('goes by request Services', () => {
      const stable = serviceRecordOf(rawService());
      const { snapshot } = look({ pods, services: [...services, stable], slicesOf: slicesOf({ ready: true }) });
      expect([...snapshot.rotation.values()]).toEqual(['in']);
    });

    it.each([
      [true, 'in'],
      [false, 'out'],
    ])(
      'goes by the headless Service of a standalone replica, whose pods have no other: serving %j',
      (serving, state) => {
        const standalone = replicaRecordOf(rawReplica({ metadata: { name: 'chat' }, spec: { parentRef: undefined } }));
        const { snapshot } = look({
          replica: standalone,
          pods,
          services,
          slicesOf: slicesOf({ ready: true, serving }),
        });
        expect([...snapshot.rotation.values()]).toEqual([state]);
      },
    );
  });
});
