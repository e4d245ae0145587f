import { describe, expect, it } from '@jest/globals';
import { TransportError, testing } from '@omenative/kube';
import { OwnWrites } from './own-writes.js';
import { at, Harness } from './testing/harness.js';
import { rawPod } from './testing/objects.js';

const { ok, failure } = testing;
const pod = { namespace: 'team-a', name: 'chat-engine-0-default-0' };
const instance = { replicaUid: 'r', index: 0 };
const other = { replicaUid: 'r', index: 1 };

async function world() {
  const harness = await new Harness({ pods: [rawPod()] }).sync();
  return { harness, writes: new OwnWrites(harness.runtime, harness.caches.pods) };
}

describe('OwnWrites', () => {
  it('is blind about an Instance until the stream has passed its writes, and about no other', async () => {
    const { harness, writes } = await world();
    writes.answered(instance, '210');
    writes.answered(other, '220');
    expect(writes.horizon('r')).toBe('220');
    expect([...writes.blind('another replica')]).toEqual([]);
    harness.stream('pods').bookmark('215');
    expect([...writes.blind('r')]).toEqual([1]);
    harness.stream('pods').bookmark('220');
    expect([...writes.blind('r')]).toEqual([]);
    expect(writes.horizon('r')).toBe('');
  });

  it('stays blind after an unanswered write, however far the stream is', async () => {
    const { harness, writes } = await world();
    writes.lost(instance, pod);
    harness.stream('pods').bookmark('999');
    expect([...writes.blind('r')]).toEqual([0]);
  });

  it('settles an unanswered write by what is there', async () => {
    const { harness, writes } = await world();
    writes.lost(instance, pod);
    harness.transport.answerNext(failure(404, 'NotFound', 'x'));
    await writes.settle(harness.client, 'r');
    expect([...writes.blind('r')]).toEqual([]);
    expect(harness.caches.pods.store.size).toBe(0);
    expect(harness.caches.pods.store.deletedWithProof('team-a/chat-engine-0-default-0')).toBeDefined();
  });

  it('reads each pod of an Instance once, and only what is open', async () => {
    const { harness, writes } = await world();
    writes.lost(instance, pod);
    writes.lost(instance, pod);
    writes.lost(instance, { ...pod, name: 'second' });
    harness.transport.answerNext(ok(at(rawPod(), '210'))).answerNext(new TransportError('x', 'reset', 'maybe'));
    await writes.settle(harness.client, 'r');
    expect([...writes.blind('r')]).toEqual([0]);
    harness.transport.answerNext(failure(404, 'NotFound', 'x'));
    await writes.settle(harness.client, 'r');
    expect([...writes.blind('r')]).toEqual([]);
    await writes.settle(harness.client, 'r');
    expect(harness.sent.map((line) => line.split('/').at(-1))).toEqual([pod.name, 'second', 'second']);
  });

  it('tells what the stream does not show in ten seconds', async () => {
    const { harness, writes } = await world();
    writes.answered(instance, '210');
    await harness.runtime.advance(9_000);
    expect(writes.unreached()).toEqual([]);
    await harness.runtime.advance(2_000);
    expect(writes.unreached()).toEqual(['210']);
    expect(writes.oldestMs()).toBe(11_000);
  });

  it('forgets a replica', async () => {
    const { writes } = await world();
    writes.answered(instance, '210');
    writes.lost(other, pod);
    writes.forget('r');
    expect([...writes.blind('r')]).toEqual([]);
    expect(writes.oldestMs()).toBeUndefined();
  });
});
