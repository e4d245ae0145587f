import { describe, expect, it } from '@jest/globals';
import { Ledger } from './ledger.js';
import type { PodSeen, ReplicaSeen } from './records.js';

function pod(name: string, more: Partial<PodSeen> = {}): PodSeen {
  return {
    name,
    uid: `uid of ${name}`,
    resourceVersion: '1',
    replica: 'llama-engine',
    instance: 'llama-engine/0',
    runner: 'worker',
    image: 'v1',
    node: 'node-1',
    containers: 'ready',
    gate: 'shut',
    stage: 'live',
    ...more,
  };
}

function replica(statusText: string, ...indexes: number[]): ReplicaSeen {
  return { name: 'llama-engine', instances: new Map(indexes.map((index) => [index, 'Ready'])), statusText };
}

/** Gates open at these versions; the leader gets requests at version 20. */
function entry(opened: Readonly<Record<string, string>>): readonly string[] {
  const ledger = new Ledger();
  for (const [name, resourceVersion] of Object.entries(opened)) {
    ledger.pod(undefined, pod(name));
    ledger.pod(pod(name), pod(name, { gate: 'open', resourceVersion }));
  }
  const ready = [{ pod: 'leader', uid: 'uid of leader' }];
  ledger.slice({ name: 'llama-x', service: 'llama', resourceVersion: '20', ready });
  return ledger.earlyEntries('llama', 3);
}

describe('Ledger', () => {
  it('finds nothing wrong with a leader that enters after all gates are open', () => {
    expect(entry({ leader: '7', 'worker-0': '8', 'worker-1': '9' })).toEqual([]);
  });

  it.each([
    ['a gate opened later', { leader: '7', 'worker-0': '8', 'worker-1': '21' }],
    ['its own gate opened later', { leader: '100', 'worker-0': '8', 'worker-1': '9' }],
    ['a member was not there', { leader: '7', 'worker-0': '8' }],
  ])('names a leader that entered though %s', (_, opened) => {
    expect(entry(opened as Readonly<Record<string, string>>)).toEqual(['leader']);
  });

  it('judges a leader by when it first got requests', () => {
    const ledger = new Ledger();
    const ready = [{ pod: 'leader', uid: 'uid of leader' }];
    ledger.slice({ name: 'llama-x', service: 'llama', resourceVersion: '5', ready });
    ledger.pod(undefined, pod('leader', { gate: 'open', resourceVersion: '6' }));
    ledger.slice({ name: 'llama-x', service: 'llama', resourceVersion: '7', ready });
    expect(ledger.earlyEntries('llama', 1)).toEqual(['leader']);
  });

  it('counts pods at once, terminating ones too, until they have ended', () => {
    const ledger = new Ledger();
    ledger.pod(undefined, pod('a'));
    ledger.pod(undefined, pod('b'));
    ledger.pod(pod('a'), pod('a', { stage: 'terminating' }));
    ledger.pod(undefined, pod('c'));
    expect(ledger.mostAtOnce('llama-engine')).toBe(3);
    ledger.pod(pod('a'), pod('a', { stage: 'ended' }));
    ledger.newPeriod();
    expect(ledger.mostAtOnce('llama-engine')).toBe(2);
    ledger.pod(pod('b'), undefined);
    ledger.pod(undefined, pod('d'));
    expect(ledger.mostAtOnce('llama-engine')).toBe(2);
    expect(ledger.podsCreated()).toBe(4);
  });

  it('tells a write of the status from any other, and counts every Instance there ever was', () => {
    const ledger = new Ledger();
    ledger.replica(undefined, replica('null'));
    ledger.replica(replica('null'), replica('a', 0, 1));
    ledger.replica(replica('a', 0, 1), replica('a', 0, 1));
    ledger.replica(replica('a', 0, 1), replica('b', 0, 2));
    expect(ledger.statusWrites('llama-engine')).toEqual({ writes: 2, instances: 3 });
  });
});
