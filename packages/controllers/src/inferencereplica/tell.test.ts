import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from '@omenative/api';
import type { EventIntent } from '@omenative/engine';
import type { JsonRecord } from '../shared/json.js';
import { replicaRecordOf } from './replica-record.js';
import { Teller } from './tell.js';
import { Harness } from './testing/harness.js';
import { rawReplica } from './testing/objects.js';

async function world(inferenceServices: readonly JsonRecord[] = []) {
  const harness = await new Harness({ inferenceservices: inferenceServices }).sync();
  const lines: JsonRecord[] = [];
  const log = (level: string, message: string, fields: JsonRecord): void => {
    lines.push({ level, message, ...fields });
  };
  const events = { record: (event: (typeof harness.recorded)[number]) => harness.recorded.push(event) };
  return { harness, lines, teller: new Teller(events, log, harness.caches.inferenceServices) };
}

function parent(uid: string): JsonRecord {
  return { metadata: { name: 'chat', namespace: 'team-a', uid, resourceVersion: '9' } };
}

function intent(reason: string, type: EventIntent['type'] = 'Normal', episode = 'e'): EventIntent {
  return { reason, type, episode, text: `${reason} ${episode}` };
}

function statusOf(...rows: readonly InstanceRow[]): DecodedStatus {
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])) };
}

describe('Teller', () => {
  it.each([
    ['the InferenceService that projected it', [parent('parent-uid')], {}, 'InferenceService'],
    ['the replica when that is gone', [], {}, 'InferenceReplica'],
    ['the replica when that is a later one', [parent('later')], {}, 'InferenceReplica'],
    ['the replica when it is standalone', [parent('parent-uid')], { parentRef: undefined }, 'InferenceReplica'],
  ])('records Events on %s', async (_, services, spec, kind) => {
    const { harness, teller } = await world(services);
    teller.events(replicaRecordOf(rawReplica({ spec })), [intent('InstanceReady')]);
    expect(harness.recorded).toMatchObject([{ reason: 'InstanceReady', regarding: { kind } }]);
  });

  it('records on the replica what speaks of it alone', async () => {
    const { harness, teller } = await world([parent('parent-uid')]);
    teller.events(replicaRecordOf(rawReplica()), [intent('TeardownBlocked', 'Warning')]);
    expect(harness.recorded).toMatchObject([{ regarding: { kind: 'InferenceReplica', uid: 'replica-uid' } }]);
  });

  it('sums Normal Events up when they are many, never Warnings', async () => {
    const { harness, teller } = await world();
    const many = Array.from({ length: 11 }, (_, at) => intent('InstanceCreated', 'Normal', String(at)));
    const warnings = Array.from({ length: 12 }, (_, at) => intent('InstanceFailed', 'Warning', String(at)));
    teller.events(replicaRecordOf(rawReplica()), [...many, ...warnings, intent('InstanceReady')]);
    const normal = harness.recorded.filter((event) => event.type === 'Normal');
    expect(normal.map((event) => event.message)).toEqual([
      'InstanceCreated 0 (and 10 more like it)',
      'InstanceReady e',
    ]);
    expect(harness.recorded).toHaveLength(14);
    harness.recorded.length = 0;
    teller.events(replicaRecordOf(rawReplica()), many.slice(0, 10));
    expect(harness.recorded).toHaveLength(10);
  });

  it('logs one line for each Instance that changed', async () => {
    const { lines, teller } = await world();
    const same: InstanceRow = { ...newRowBase(0), kind: 'ready' };
    const was: InstanceRow = { ...newRowBase(1), kind: 'ready' };
    const op = {
      type: 'Delete',
      step: 'Drain',
      id: 'd',
      retryCount: 0,
      target: '',
      reason: '',
      waiting: '',
      carry: {},
    } as const;
    const counted: InstanceRow = { ...same, published: { pods: 1, serving: 1, available: 1, admitted: true } };
    teller.changes(
      replicaRecordOf(rawReplica()),
      statusOf(same, was),
      statusOf(counted, { ...was, kind: 'deleting', op }),
    );
    teller.changes(replicaRecordOf(rawReplica()), statusOf(same, was), statusOf(same));
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'Instance 1 is Deleting (Delete/Drain)',
        namespace: 'team-a',
        name: 'chat-engine',
        instance: 1,
        from: 'Ready',
        to: 'Deleting (Delete/Drain)',
      },
      expect.objectContaining({ message: 'Instance 1 is gone', from: 'Ready', to: 'gone' }),
    ]);
  });
});
