/** One manager inside the process: caches, lease and both controllers over a simulated client, to be killed at any moment. */
import {
  type Caches,
  createCaches,
  defaultConfigMap,
  InferenceReplicaController,
  InferenceServiceController,
  type Log,
  OperatorConfig,
  startCaches,
} from '@omenative/controllers';
import {
  type ApiRequest,
  type ApiResponse,
  Client,
  EventRecorder,
  LeaderElection,
  type Runtime,
  type Transport,
  TransportError,
} from '@omenative/kube';
import type { ClientOptions, Cluster, Client as SimClient } from '@omenative/sim';

export const configNamespace = 'ome';

export interface ProcessOptions {
  readonly name: string;
  /** `lease`: it competes for the lease; `none`: it works at once, beside whoever else does. */
  readonly election: 'lease' | 'none';
  readonly faults?: ClientOptions['faults'];
  /** Milliseconds between looks without a reason; absent: only holds and events wake it. */
  readonly safetyPollMs?: number;
  /** The `data` of the operator's ConfigMap; default: the chart's values. */
  readonly config?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** Told of each request of the process as it is sent, and of each answer. */
  readonly onRequest?: (request: ApiRequest) => void;
  readonly onAnswer?: (request: ApiRequest, response: ApiResponse) => void;
  /** What it does when its lease is lost: a real one ends; one that is too busy to notice goes on. */
  readonly onLost?: 'ends' | 'goes on';
}

function makeError(message: string, kind: 'timeout' | 'refused' | 'reset', sent: 'no' | 'maybe'): Error {
  return new TransportError(message, kind, sent);
}

/** Short lease times, so that a takeover fits into a scenario. */
const lease = { leaseDurationMs: 5000, renewDeadlineMs: 3000, retryPeriodMs: 1000 };

export class ManagerProcess {
  readonly sim: SimClient;
  readonly caches: Caches;
  readonly name: string;
  #isLeader = false;

  constructor(cluster: Cluster, options: ProcessOptions) {
    this.name = options.name;
    this.sim = cluster.client(options.name, {
      makeError,
      ...(options.faults === undefined ? {} : { faults: options.faults }),
    });
    const transport: Transport = {
      request: async (request) => {
        options.onRequest?.(request);
        const response = await this.sim.request(request);
        options.onAnswer?.(request, response);
        return response;
      },
      watch: (request, sink) => this.sim.watch(request, sink),
    };
    const runtime: Runtime = this.sim.runtime();
    const log: Log = options.log ?? (() => {});
    const unfenced = new Client({ transport, runtime });
    const election = new LeaderElection({
      client: unfenced,
      runtime,
      namespace: configNamespace,
      name: 'ome-controller-manager-leader-lock',
      identity: this.sim.id,
      ...lease,
      onAcquired: () => this.#start(),
      onLost: () => {
        if (options.onLost !== 'goes on') this.kill();
      },
      report: () => {},
    });
    const isAlone = options.election === 'none';
    const client = isAlone ? unfenced : unfenced.fenced(() => election.fence());
    const config = new OperatorConfig(options.config ?? defaultConfigMap(configNamespace).data);
    const events = new EventRecorder({ client, runtime, component: 'ome-controller-manager', instance: this.sim.id });
    this.caches = createCaches({
      transport,
      runtime,
      configNamespace,
      report: (problem) => log('warn', `a stream had a problem: ${JSON.stringify(problem)}`, {}),
    });
    const common = {
      runtime,
      client,
      caches: this.caches,
      config,
      events,
      log,
      ...(options.safetyPollMs === undefined ? {} : { safetyPollMs: options.safetyPollMs }),
    };
    const services = new InferenceServiceController(common);
    const replicas = new InferenceReplicaController(common);
    this.#controllers = [services, replicas];
    startCaches(this.caches);
    if (isAlone) this.#start();
    else election.start();
  }

  readonly #controllers: readonly { start(): void }[];

  get isLeader(): boolean {
    return this.#isLeader && this.sim.alive;
  }

  /** Nothing settles and nothing fires any more; requests already sent may still arrive. */
  kill(): void {
    this.sim.kill();
  }

  #start(): void {
    this.#isLeader = true;
    for (const controller of this.#controllers) controller.start();
  }
}
