import { afterEach, describe, expect, it } from '@jest/globals';
import { type ApiResponse, testing } from '@omenative/kube';
import { Manager } from './manager.js';
import { ManagerMetrics } from './metrics/manager-metrics.js';
import { defaultOptions, type ManagerOptions } from './options.js';
import { encoding, ScriptedCluster } from './testing/scripted-cluster.js';

const timing = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
const virtualService = {
  apiVersion: 'ome.io/v1beta1',
  kind: 'InferenceService',
  metadata: {
    name: 'chat',
    namespace: 'lab',
    uid: 'uid-chat',
    resourceVersion: '10',
    annotations: { 'ome.io/deploymentMode': 'VirtualDeployment' },
  },
  spec: {},
};
const plainService = {
  ...virtualService,
  metadata: { name: 'plain', namespace: 'lab', uid: 'uid-plain', resourceVersion: '10' },
  spec: { deploymentMode: 'OMENative', runtime: { kind: 'ServingRuntime', name: 'echo' }, engine: {} },
};
const runtimeOfIt = {
  metadata: { name: 'echo', namespace: 'lab', uid: 'uid-echo', resourceVersion: '11' },
  spec: { engineConfig: { runner: { image: 'echo:1' } } },
};
/** What a pass over the virtual InferenceService writes. */
const statusWrite = 'PUT /apis/ome.io/v1beta1/namespaces/lab/inferenceservices/chat/status';

let runtime: testing.VirtualRuntime;
let cluster: ScriptedCluster;
let manager: Manager;
let lost: string[];
let logged: { readonly level: string; readonly message: string }[];
let metrics: ManagerMetrics;

function build(
  options: Partial<ManagerOptions> = {},
  objects: ConstructorParameters<typeof ScriptedCluster>[0] = { inferenceservices: [virtualService] },
): void {
  runtime = new testing.VirtualRuntime();
  cluster = new ScriptedCluster(objects);
  lost = [];
  logged = [];
  metrics = new ManagerMetrics();
  manager = new Manager({
    runtime,
    transport: cluster.transport,
    identity: 'me',
    options: { ...defaultOptions, leaderElection: timing, ...options },
    log: (level, message) => logged.push({ level, message }),
    metrics,
    onLost: (why) => lost.push(why),
  });
}

/** Lets a second pass. */
async function started(): Promise<void> {
  await manager.start();
  await runtime.advance(1000);
}

function shutDown(): Promise<void> {
  const stopped = manager.stop();
  return Promise.race([stopped, runtime.advance(20_000).then(() => stopped)]);
}

afterEach(async () => {
  await shutDown();
  for (const stream of cluster.transport.streams) stream.close();
});

describe('a manager', () => {
  it('works once it holds the Lease', async () => {
    build();
    await started();
    expect(cluster.leaseWrites).toEqual([
      expect.objectContaining({ spec: expect.objectContaining({ holderIdentity: 'me' }) }),
    ]);
    expect(manager.isLeading).toBe(true);
    expect(cluster.writes).toEqual([statusWrite]);
  });

  it('keeps its caches warm and writes nothing while another holds it, and takes over when that falls silent', async () => {
    build();
    cluster.giveLeaseTo('other');
    await started();
    await runtime.advance(10_000);
    expect(manager.readiness().ok).toBe(true);
    expect(manager.isLeading).toBe(false);
    expect(cluster.writes).toEqual([]);
    await runtime.advance(10_000);
    expect(manager.isLeading).toBe(true);
    expect(cluster.writes).toEqual([statusWrite]);
  });

  it('refuses an election that can’t be safe, before it asks the API server for anything', async () => {
    build({ leaderElection: { ...timing, renewDeadlineMs: 20_000 } });
    await expect(manager.start()).rejects.toThrow(RangeError);
    expect(cluster.transport.requests).toEqual([]);
  });

  it('needs no Lease when it is the only one', async () => {
    build({ leaderElection: 'off' });
    await started();
    expect(cluster.leaseWrites).toEqual([]);
    expect(cluster.writes).toEqual([statusWrite]);
  });

  it('reads the settings anew before it acts as the leader', async () => {
    build();
    cluster.giveLeaseTo('other');
    await started();
    const before = cluster.transport.requests.filter((request) =>
      request.path.endsWith('inferenceservice-config'),
    ).length;
    cluster.settings = { ...encoding, deploy: '{"minReadySeconds":5}' };
    await runtime.advance(20_000);
    const after = cluster.transport.requests.filter((request) =>
      request.path.endsWith('inferenceservice-config'),
    ).length;
    expect(after).toBe(before + 1);
  });

  it('stops writing at once, and says so once, when it can’t renew', async () => {
    build();
    await started();
    cluster.writes.splice(0);
    cluster.intercept = ({ path }) =>
      path.includes('/leases') ? testing.failure(500, 'InternalError', 'no') : undefined;
    await runtime.advance(30_000);
    expect(lost).toEqual([expect.stringContaining('not renewed')]);
    expect(manager.isLeading).toBe(false);
    expect(cluster.writes).toEqual([]);
    expect(logged).toContainEqual({ level: 'error', message: expect.stringContaining('leader election lost') });
  });

  it('writes nothing more in a pass that was under way when the Lease was lost', async () => {
    build({}, { inferenceservices: [plainService], servingruntimes: [runtimeOfIt] });
    const metadata = { name: 'plain-engine', namespace: 'lab', uid: 'uid-replica', resourceVersion: '300' };
    const answer = testing.ok({ metadata, spec: { component: 'engine' } }, 201);
    const created = new Promise<ApiResponse>((resolve) => runtime.setTimer(13_500, () => resolve(answer)));
    cluster.intercept = ({ method, path }) =>
      method === 'POST' && path.endsWith('/inferencereplicas') ? created : undefined;
    await started();
    const create = 'POST /apis/ome.io/v1beta1/namespaces/lab/inferencereplicas';
    expect(cluster.writes).toEqual([create]);
    cluster.intercept = ({ path }) =>
      path.includes('/leases') ? testing.failure(500, 'InternalError', 'no') : undefined;
    await runtime.advance(12_000);
    expect(lost).toHaveLength(1);
    await runtime.advance(12_000);
    expect(cluster.writes).toEqual([create]);
  });

  it('gives the Lease back when it is stopped, and leaves nothing behind', async () => {
    build();
    await started();
    await shutDown();
    expect(cluster.leaseWrites.at(-1)).toMatchObject({ spec: { holderIdentity: '' } });
    expect(cluster.transport.liveStreams).toBe(0);
    expect(runtime.pendingTimers).toBe(0);
    expect(lost).toEqual([]);
  });

  it('waits for work under way when it is stopped, but not for ever', async () => {
    build({ stopGraceMs: 3000 });
    cluster.intercept = ({ method, path }) => (method === 'PUT' && path.includes('/status') ? 'hang' : undefined);
    await started();
    const stopping = manager.stop();
    await runtime.advance(2000);
    expect(cluster.transport.liveStreams).toBeGreaterThan(0);
    await runtime.advance(2000);
    await stopping;
    expect(cluster.transport.liveStreams).toBe(0);
    expect(logged).toContainEqual({ level: 'warn', message: expect.stringContaining('did not end within 3000 ms') });
  });

  it('may be stopped before it has begun', async () => {
    build();
    const starting = manager.start();
    await shutDown();
    await starting;
    await runtime.advance(5000);
    expect(cluster.leaseWrites).toEqual([]);
    expect(cluster.transport.liveStreams).toBe(0);
  });

  it('runs without the InferenceReplica controller when told to, and says which it is', async () => {
    build({ inferenceReplicaController: 'disabled' });
    await started();
    const messages = logged.map((line) => line.message);
    expect(messages).toContain('InferenceReplica controller disabled via --enable-inferencereplica-controller=false');
    expect(messages).not.toContain('Setting up InferenceReplica controller');
    expect(cluster.writes).toEqual([statusWrite]);
  });
});

describe('the settings', () => {
  it('must be there at start', async () => {
    build();
    cluster.settings = undefined;
    await expect(manager.start()).rejects.toThrow(
      'ConfigMap ome/inferenceservice-config does not exist: install the chart, or start with --apply-crds',
    );
  });

  it('must be readable at start: key and value are named [E166]', async () => {
    build();
    cluster.settings = { ...encoding, lifecycle: '{"stuckPodGracePeriod": 60}' };
    await expect(manager.start()).rejects.toThrow('lifecycle.stuckPodGracePeriod = 60: 60 has no unit');
  });

  it('keep their last good value when an edit can’t be read: told in the log, in an Event and in a metric', async () => {
    build({ leaderElection: 'off' });
    await started();
    cluster.edit({ ...encoding, lifecycle: '{"repairBatchSize": "ten"}' });
    await runtime.advance(1000);
    const message =
      'lifecycle.repairBatchSize = "ten": "ten" is not a whole number; the last good value stays in effect';
    expect(logged).toContainEqual({ level: 'warn', message: `ConfigMap ome/inferenceservice-config: ${message}` });
    const event = cluster.transport.requests.find((request) => request.path === '/api/v1/namespaces/ome/events');
    expect(event?.body).toMatchObject({
      type: 'Warning',
      reason: 'ConfigKeyRejected',
      message,
      involvedObject: { kind: 'ConfigMap', name: 'inferenceservice-config', uid: 'uid-config' },
    });
    expect(await metrics.registry.metrics()).toContain(
      'ome_omenative_config_rejected_keys{key="lifecycle.repairBatchSize"} 1',
    );
    cluster.edit(encoding);
    await runtime.advance(1000);
    expect(await metrics.registry.metrics()).not.toContain('lifecycle.repairBatchSize');
  });
});

describe('health', () => {
  it('is bad when the event loop stalls', async () => {
    build({ leaderElection: 'off' });
    await started();
    expect(manager.health(20)).toMatchObject({
      ok: true,
      lines: expect.arrayContaining(['[+] event loop: p99 20 ms']),
    });
    expect(manager.health(6000)).toMatchObject({
      ok: false,
      lines: expect.arrayContaining(['[-] event loop: p99 6000 ms']),
    });
  });

  it('is bad when a cache has heard nothing for longer than its stream is left alone', async () => {
    build({ leaderElection: 'off' });
    await started();
    expect(manager.health(1).ok).toBe(true);
    runtime.freeze(601_000);
    const { ok, lines } = manager.health(1);
    expect(ok).toBe(false);
    expect(lines).toContainEqual(expect.stringMatching(/^\[-\] cache of pods: 0 objects, last heard of 602 s ago$/));
  });

  it('is good before there is anything to hear, when nobody is ready yet', () => {
    build();
    expect(manager.health(1).ok).toBe(true);
    expect(manager.readiness()).toEqual({ ok: false, lines: ['[-] starting'] });
  });
});

describe('metrics', () => {
  it.each([
    'controller_runtime_reconcile_total{controller="inferenceservice",result="success"} 2',
    'controller_runtime_reconcile_errors_total{controller="inferencereplica"} 0',
    'controller_runtime_reconcile_time_seconds_count{controller="inferenceservice"} 2',
    'controller_runtime_active_workers{controller="inferenceservice"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="inferencereplica"} 1',
    'workqueue_adds_total{name="inferenceservice",controller="inferenceservice"}',
    'workqueue_depth{name="inferenceservice",controller="inferenceservice"} 0',
    'workqueue_queue_duration_seconds_count{name="inferenceservice",controller="inferenceservice"} 2',
    'workqueue_work_duration_seconds_count{name="inferenceservice",controller="inferenceservice"} 2',
    'workqueue_unfinished_work_seconds{name="inferencereplica",controller="inferencereplica"} 0',
    'workqueue_longest_running_processor_seconds{name="inferencereplica",controller="inferencereplica"} 0',
    'leader_election_master_status{name="ome-controller-manager-leader-lock"} 1',
    'ome_omenative_oldest_unseen_write_seconds 0',
    'ome_omenative_cache_objects{resource="inferenceservices.ome.io"} 1',
    'ome_omenative_cache_lists_total{resource="pods"} 1',
    'ome_omenative_cache_last_event_age_seconds{resource="endpointslices.discovery.k8s.io"} 1',
  ])('show %s', async (line) => {
    build();
    await started();
    expect(await metrics.registry.metrics()).toContain(line);
  });

  it('carry a help text each', async () => {
    build();
    await started();
    for (const metric of await metrics.registry.getMetricsAsJSON()) expect(metric.help.length).toBeGreaterThan(5);
  });
});
