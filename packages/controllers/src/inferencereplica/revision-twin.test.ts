import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from '@omenative/api';
import { type PlanSpec, specRevisionName } from '@omenative/engine';
import type { JsonRecord } from '../shared/json.js';
import { type PodRecord, podRecordOf } from './pod-view.js';
import { replicaRecordOf } from './replica-record.js';
import { type RevisionRecord, revisionRecordOf } from './revision-object.js';
import { storedRevisions, storedTwin } from './revision-twin.js';
import { specViewOf } from './spec-view.js';
import { rawPod, rawReplica, template } from './testing/objects.js';

function specOf(runners: readonly JsonRecord[] = [{ name: 'default', size: 1, template: template() }]): PlanSpec {
  const view = specViewOf(replicaRecordOf(rawReplica({ spec: { runners } })), {}, () => false);
  if (!view.ok) throw new Error(view.message);
  return view.spec;
}

function gangOf(workers: number, workerMeta: JsonRecord = {}): PlanSpec {
  return specOf([
    { name: 'leader', size: 1, template: template('leader:1') },
    { name: 'worker', size: workers, template: { metadata: workerMeta, ...template('worker:1') } },
  ]);
}

const a = 'chat-engine-aaaaaaaa';
const b = 'chat-engine-bbbbbbbb';
const podSpec = template()['spec'];
const gangData = { podSpec: template('leader:1')['spec'], podMeta: null, workerPodSpec: template('worker:1')['spec'] };

const stored = (name: string, number: number, data: JsonRecord = { podSpec, podMeta: null }): RevisionRecord =>
  revisionRecordOf({ metadata: { name }, revision: number, data });

function statusOf(running: readonly string[], more: Partial<DecodedStatus> = {}): DecodedStatus {
  const rows = running.map((rev, index): InstanceRow => ({ ...newRowBase(index), kind: 'ready', running: rev }));
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])), ...more };
}

function twin(
  records: readonly RevisionRecord[],
  status: DecodedStatus,
  spec = specOf(),
  pods: readonly PodRecord[] = [],
): string | undefined {
  return storedTwin(spec, status, storedRevisions(records, pods, status, spec));
}

/** A worker of the gang 0 that was made as one of `size` pods. */
function worker(size: number, hash = 'aaaaaaaa'): PodRecord {
  const env = [{ name: 'OME_INSTANCE_POD_COUNT', value: String(size) }];
  return podRecordOf(rawPod({ runner: 'worker', hash, spec: { containers: [{ name: 'main', env }] } }));
}

describe('the stored twin of a spec', () => {
  it('is the one that says the same', () => {
    const other = stored(b, 2, { podSpec: template('e:2')['spec'], podMeta: null });
    expect(twin([other, stored(a, 1)], emptyStatus)).toBe(a);
    expect(twin([other], emptyStatus)).toBeUndefined();
    expect(twin([revisionRecordOf({ metadata: { name: a }, data: { raw: 'x' } })], emptyStatus)).toBeUndefined();
  });

  it('is of several the one that most Instances run, whatever is newer or named [B18]', () => {
    const twins = [stored(a, 1), stored(b, 2)];
    expect(twin(twins, statusOf([a, a, b], { update: b, current: b }))).toBe(a);
    expect(twin(twins, statusOf([b, a, b], { update: a }))).toBe(b);
  });

  it('is else the one that the status rolls to, then the one it has rolled to, then our own name for it, then the newest', () => {
    const own = specRevisionName(specOf(), 0);
    const twins = [stored(a, 3), stored(b, 1), stored(own, 2)];
    expect(twin(twins, statusOf(['c'], { update: b, current: a }))).toBe(b);
    expect(twin(twins, statusOf(['c'], { update: 'c', current: b }))).toBe(b);
    expect(twin(twins, statusOf(['c']))).toBe(own);
    expect(twin(twins.slice(0, 2), statusOf([]))).toBe(a);
  });
});

describe('a stored gang that does not say how many it is', () => {
  it('is as many as its pods were made for [B21]', () => {
    expect(twin([stored(a, 1, gangData)], statusOf([a]), gangOf(3), [worker(4)])).toBe(a);
    expect(twin([stored(a, 1, gangData)], statusOf([a]), gangOf(2), [worker(4)])).toBeUndefined();
  });

  it('is judged by pods of its own only', () => {
    expect(twin([stored(a, 1, gangData)], statusOf([a]), gangOf(3), [worker(4, 'bbbbbbbb')])).toBeUndefined();
  });

  it('is as wanted when some of its gangs are, others being about to be filled', () => {
    const pods = [worker(3), worker(5)];
    expect(twin([stored(a, 1, gangData)], statusOf([a]), gangOf(2), pods)).toBe(a);
  });

  it('stays what it was taken for while it has no pod', () => {
    expect(twin([stored(a, 1, gangData)], statusOf([a], { update: a }), gangOf(3))).toBe(a);
    expect(twin([stored(a, 1, gangData)], statusOf([a], { update: b }), gangOf(3))).toBeUndefined();
  });

  it('has workers with the metadata that the spec gives them', () => {
    const spec = gangOf(3, { labels: { role: 'w' } });
    expect(twin([stored(a, 1, gangData)], statusOf([a]), spec, [worker(4)])).toBe(a);
    const said = { ...gangData, workerSize: 3 };
    expect(twin([stored(a, 1, said)], statusOf([a]), spec, [worker(4)])).toBeUndefined();
  });

  it('is no twin of a single pod', () => {
    expect(twin([stored(a, 1, gangData)], statusOf([a]))).toBeUndefined();
  });
});
