/** Leader election and Events against a real API server, one copy of the process behind a network that fails. */
import { beforeEach, expect, it } from '@jest/globals';
import {
  Client,
  classify,
  EventRecorder,
  events,
  type HttpTransport,
  LeaderElection,
  leases,
  type ObjectReference,
} from '@omenative/kube';
import { type Cluster, configMaps, describeOnCluster } from './testing/cluster.js';

/** How long a lease stands that nobody renews: soon over, or for longer than any test waits. */
const durations = { short: 3000, long: 120_000 };

describeOnCluster('LeaderElection on a real API server', (theCluster) => {
  let cluster: Cluster;
  let log: string[];

  function candidate(
    identity: string,
    name: string,
    leaseDurationMs: number,
    transport: HttpTransport,
  ): LeaderElection {
    return new LeaderElection({
      client: new Client({ transport, runtime: cluster.runtime }),
      runtime: cluster.runtime,
      namespace: cluster.namespace,
      name,
      identity,
      leaseDurationMs,
      renewDeadlineMs: 2000,
      retryPeriodMs: 300,
      onAcquired: () => log.push(`${identity} acquired`),
      onLost: () => log.push(`${identity} lost`),
      report: () => {},
    });
  }

  beforeEach(() => {
    cluster = theCluster();
    log = [];
  });

  it('hands over from a leader that is cut off, whose writes are refused from then on [B40]', async () => {
    const { proxy, transport } = await cluster.behindProxy();
    const first = candidate('first', 'cut-off', durations.short, transport);
    const second = candidate('second', 'cut-off', durations.short, cluster.transport);
    first.start();
    await cluster.until('the first leads', () => first.isHeld());
    second.start();
    const fenced = new Client({ transport: cluster.transport, runtime: cluster.runtime }).fenced(() => first.fence());
    await fenced.create(configMaps, cluster.configMap('of-the-leader'));
    proxy.stall();
    let bothLed = false;
    await cluster.until('the second leads', () => {
      bothLed ||= first.isHeld() && second.isHeld();
      return second.isHeld();
    });
    expect([bothLed, first.isHeld(), log]).toEqual([false, false, ['first acquired', 'first lost', 'second acquired']]);
    const late = await fenced
      .create(configMaps, cluster.configMap('of-the-past'))
      .catch((error: unknown) => classify(error));
    expect(late).toBe('fenced');
    const lease = await cluster.client.get(leases, { namespace: cluster.namespace, name: 'cut-off' });
    expect(lease.spec).toMatchObject({ holderIdentity: 'second', leaseDurationSeconds: 3, leaseTransitions: 1 });
    await second.release();
  });

  it('hands over at once when the leader releases', async () => {
    const first = candidate('first', 'released', durations.long, cluster.transport);
    const second = candidate('second', 'released', durations.long, cluster.transport);
    first.start();
    await cluster.until('the first leads', () => first.isHeld());
    second.start();
    // Without it the second would have to see the lease stand still for longer than this test waits.
    await first.release();
    await cluster.until('the second leads', () => second.isHeld());
    await second.release();
    const lease = await cluster.client.get(leases, { namespace: cluster.namespace, name: 'released' });
    expect(lease.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 1 });
  });
});

describeOnCluster('EventRecorder on a real API server', (theCluster) => {
  it('writes one Event an episode, which is found by its object', async () => {
    const cluster = theCluster();
    const map = await cluster.client.create(configMaps, cluster.configMap('eventful'));
    const { uid = '', name = '' } = map.metadata ?? {};
    const regarding: ObjectReference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: cluster.namespace, name, uid };
    const dropped: string[] = [];
    for (const episode of ['1', '1', '2']) {
      // A new process each time: nothing but the name keeps the repetition away.
      const recorder = new EventRecorder({
        client: cluster.client,
        runtime: cluster.runtime,
        component: 'kube-e2e',
        instance: 'copy',
        metrics: { written: () => {}, dropped: (why) => dropped.push(why) },
      });
      recorder.record({ regarding, type: 'Warning', reason: 'Stuck', message: 'ž'.repeat(2000), episode });
      await recorder.flush();
    }
    const fieldSelector = `involvedObject.uid=${uid}`;
    const { items } = await cluster.client.list(events, { namespace: cluster.namespace, fieldSelector });
    expect([items.length, dropped]).toEqual([2, []]);
    expect(items[0]).toMatchObject({ reason: 'Stuck', type: 'Warning', count: 1, source: { component: 'kube-e2e' } });
  });
});
