import { describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import { readPods } from './reads.js';
import { replicaRecordOf } from './replica-record.js';
import { at, Harness } from './testing/harness.js';
import { rawPod, rawReplica } from './testing/objects.js';

const { listOf } = testing;
const spec = { owner: 'chat', component: 'engine' } as const;

async function world(...indices: readonly number[]) {
  return new Harness({ pods: indices.map((index) => rawPod({ index })) }).sync();
}

function names(harness: Harness): readonly string[] {
  return [...harness.caches.pods.store.values()].map((pod) => pod.view.name).toSorted();
}

describe('readPods', () => {
  it('reads one Instance each, and leaves others alone', async () => {
    const harness = await world(0, 1, 2);
    harness.answer(() => listOf([], '240'));
    await readPods(harness.client, harness.caches, replicaRecordOf(rawReplica()), spec, [0, 2]);
    expect(harness.transport.requests).toHaveLength(2);
    expect(names(harness)).toEqual(['chat-engine-1-default-0']);
  });

  it('reads the component once for many', async () => {
    const harness = await world(0, 30);
    harness.answer(() => listOf([at(rawPod({ index: 30 }), '50'), at(rawPod({ index: 5 }), '230')], '240'));
    const indices = Array.from({ length: 20 }, (_, index) => index);
    await readPods(harness.client, harness.caches, replicaRecordOf(rawReplica()), spec, indices);
    expect(harness.transport.requests).toHaveLength(1);
    expect(names(harness)).toEqual(['chat-engine-30-default-0', 'chat-engine-5-default-0']);
  });

  it('reads all pages before it believes that anything is gone', async () => {
    const harness = await world(0);
    harness.transport.answerNext(listOf([], '240', 'more')).answerNext(listOf([at(rawPod(), '50')], '240'));
    await readPods(harness.client, harness.caches, replicaRecordOf(rawReplica()), spec, [0]);
    expect(names(harness)).toEqual(['chat-engine-0-default-0']);
  });

  it('leaves pods of another replica alone', async () => {
    const harness = await new Harness({ pods: [rawPod({ owner: 'another' })] }).sync();
    harness.answer(() => listOf([], '240'));
    await readPods(harness.client, harness.caches, replicaRecordOf(rawReplica()), spec, [0]);
    expect(names(harness)).toEqual(['chat-engine-0-default-0']);
  });
});
