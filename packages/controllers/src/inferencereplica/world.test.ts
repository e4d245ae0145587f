import { describe, expect, it } from '@jest/globals';
import { selectorLabels } from '@omenative/api';
import { replicaRecordOf } from './replica-record.js';
import { Harness } from './testing/harness.js';
import { rawHeadless, rawPod, rawReplica, rawService, rawSlice } from './testing/objects.js';
import { worldOf } from './world.js';

describe('worldOf', () => {
  it('holds the pods that the replica controls by its UID, and nobody else’s', async () => {
    const pods = [rawPod({ index: 1 }), rawPod(), rawPod({ index: 2, owner: 'earlier' })];
    const { caches } = await new Harness({ pods }).sync();
    expect(worldOf(caches, replicaRecordOf(rawReplica())).pods.map((pod) => pod.view.index)).toEqual([0, 1]);
  });

  it('holds every Service that may select its pods, and none of a sibling component or another owner', async () => {
    const services = [
      rawService(),
      rawHeadless(),
      rawService({
        name: 'chat',
        metadata: { labels: { ...selectorLabels('chat', 'engine'), component: 'external-service' } },
      }),
      rawService({ name: 'chat-decoder', selector: selectorLabels('chat', 'decoder') }),
      rawService({ name: 'other-engine', selector: selectorLabels('other', 'engine') }),
      rawService({
        name: 'all',
        selector: { 'ome.io/managed-by': 'OMENative' },
        metadata: { labels: { 'ome.io/managed-by': 'OMENative' } },
      }),
    ];
    const { caches } = await new Harness({ services }).sync();
    const names = worldOf(caches, replicaRecordOf(rawReplica())).services.map((service) => service.meta.name);
    expect(names.toSorted()).toEqual(['all', 'chat', 'chat-engine', 'chat-engine-headless']);
  });

  it('finds the slices of a Service in its namespace', async () => {
    const elsewhere = rawSlice('chat-engine', []);
    const endpointslices = [
      rawSlice('chat-engine', []),
      rawSlice('chat-decoder', []),
      { ...elsewhere, metadata: { ...(elsewhere['metadata'] as object), namespace: 'team-b', uid: 'b' } },
    ];
    const { caches } = await new Harness({ endpointslices }).sync();
    const slices = worldOf(caches, replicaRecordOf(rawReplica())).slicesOf('chat-engine');
    expect(slices.map((slice) => slice.meta.namespace)).toEqual(['team-a']);
  });
});
