/** Runs a manager as a process: a connection, endpoints, signals, and an exit code. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Log } from '@omenative/controllers';
import {
  type Connection,
  checkTiming,
  connectionFromCluster,
  connectionFromKubeconfig,
  HttpTransport,
  isInCluster,
  NoClusterError,
  type Runtime,
} from '@omenative/kube';
import { collectDefaultMetrics } from 'prom-client';
import { type Answer, type Endpoint, type Routes, serve, text } from './endpoints.js';
import type { Flags } from './flags.js';
import type { Verdict } from './health.js';
import { Manager } from './manager.js';
import { ManagerMetrics } from './metrics/manager-metrics.js';

export interface ProcessInit {
  readonly flags: Flags;
  readonly runtime: Runtime;
  readonly log: Log;
  readonly version: string;
  /** `POD_NAME` names this copy; the others are those by which a cluster is found. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls back when the process is asked to end. */
  readonly onStopRequested: (stop: () => void) => void;
}

/**
 * Resolves with the exit code: 0 after a stop that was asked for, 1 when the manager could not start or lost its Lease.
 * Says why in the log.
 */
export async function runProcess(init: ProcessInit): Promise<number> {
  const { flags, log } = init;
  for (const ignored of flags.ignored) log('warn', `flag without effect: ${ignored}`, {});
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const closers: (() => Promise<void> | void)[] = [() => void loop.disable()];
  try {
    return await serveAndManage(init, loop, closers);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = error instanceof NoClusterError ? '; run scripts/cluster up, or set KUBECONFIG' : '';
    log('error', `the manager can't run: ${reason}${advice}`, {});
    return 1;
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function serveAndManage(
  { flags, runtime, log, version, env, onStopRequested }: ProcessInit,
  loop: IntervalHistogram,
  closers: (() => Promise<void> | void)[],
): Promise<number> {
  if (flags.options.leaderElection !== 'off') checkTiming(flags.options.leaderElection);
  const connection = await connect(flags, runtime, env);
  const metrics = new ManagerMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  const userAgent = `omenative-manager/${version}`;
  const common = { connection, runtime, userAgent, metrics: metrics.http };
  const transport = new HttpTransport({ ...common, ...(flags.rate === undefined ? {} : { rate: flags.rate }) });
  // Renewals have sockets of their own: no rate limit and no queue of pod writes may hold them up.
  const electionTransport = new HttpTransport(common);
  closers.push(
    () => transport.close(),
    () => electionTransport.close(),
  );
  const ending = new Ending();
  const manager = new Manager({
    runtime,
    transport,
    electionTransport,
    identity: `${env['POD_NAME'] ?? hostname()}_${randomUUID()}`,
    options: flags.options,
    log,
    metrics,
    onLost: () => ending.with(1),
  });
  onStopRequested(() => ending.with(0));
  closers.push(...(await openEndpoints(flags, log, manager, metrics, loop)));
  await Promise.race([manager.start(), ending.exitCode]);
  const exitCode = await ending.exitCode;
  if (exitCode === 0) await manager.stop();
  return exitCode;
}

/** How the process will end, once somebody says so; the first word counts. */
class Ending {
  readonly exitCode: Promise<number>;
  #resolve: ((exitCode: number) => void) | undefined;

  constructor() {
    this.exitCode = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  with(exitCode: number): void {
    this.#resolve?.(exitCode);
  }
}

async function connect({ kubeconfig, context }: Flags, runtime: Runtime, env: ProcessInit['env']): Promise<Connection> {
  if (kubeconfig === undefined && context === undefined && isInCluster({ env })) {
    return connectionFromCluster({ runtime, env });
  }
  return connectionFromKubeconfig({
    runtime,
    env,
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
}

async function openEndpoints(
  flags: Flags,
  log: Log,
  manager: Manager,
  metrics: ManagerMetrics,
  loop: IntervalHistogram,
): Promise<readonly (() => Promise<void>)[]> {
  const { registry } = metrics;
  const probes: Routes = {
    '/healthz': () => {
      const p99Ms = loop.percentile(99) / 1e6;
      loop.reset();
      return answer(manager.health(p99Ms));
    },
    '/readyz': () => answer(manager.readiness()),
  };
  const scrapes: Routes = {
    '/metrics': async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
  };
  const open: Endpoint[] = [];
  for (const [what, address, routes] of [
    ['probes', flags.healthAddress, probes],
    ['metrics', flags.metricsAddress, scrapes],
  ] as const) {
    const endpoint = await serve(address, routes);
    if (endpoint === undefined) continue;
    log('info', `${what} are served at ${endpoint.address}`, { address: endpoint.address });
    open.push(endpoint);
  }
  return open.map((endpoint) => () => endpoint.close());
}

function answer(verdict: Verdict): Answer {
  return text(verdict.ok ? 200 : 503, verdict.lines.join('\n'));
}
