/** What the statuses of InferenceReplicas take, and how their writes end. */
import type { ReplicaMetrics, StoredStatus } from '@omenative/controllers';
import { Counter, Gauge, type Registry } from 'prom-client';

const encodingLabel = { DenseV1: 'dense_v1', ColumnarV2: 'columnar_v2' } as const;

export type StatusHooks = Pick<ReplicaMetrics, 'statusWritten' | 'statusStored' | 'codecFailed'>;

export class StatusMetrics implements StatusHooks {
  readonly #writes: Counter;
  readonly #conversions: Counter;
  readonly #codecErrors: Counter;
  /** The last write of each replica, by `namespace/name`. */
  readonly #stored: Map<string, StoredStatus> = new Map();
  #exists: (key: string) => boolean = () => true;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#writes = new Counter({
      name: 'ome_omenative_ir_status_writes_total',
      help: 'Writes of the status of an InferenceReplica, by their encoding and result; an attempt is counted when it is sent.',
      labelNames: ['encoding', 'result'],
      registers,
    });
    this.#conversions = new Counter({
      name: 'ome_omenative_ir_status_conversions_total',
      help: 'Statuses of InferenceReplicas whose rows are now stored in another encoding.',
      labelNames: ['from', 'to'],
      registers,
    });
    this.#codecErrors = new Counter({
      name: 'ome_omenative_ir_status_codec_errors_total',
      help: 'Statuses of InferenceReplicas that could not be read or written out, by why.',
      labelNames: ['reason'],
      registers,
    });
    const size: Gauge = new Gauge({
      name: 'ome_omenative_ir_status_bytes',
      help: 'Bytes of the last status written of each InferenceReplica, as JSON.',
      labelNames: ['namespace', 'name', 'component', 'encoding'],
      registers: [],
      collect: () => this.#collect(size),
    });
    registry.registerMetric(size);
  }

  /** `exists` tells, at every scrape, whether the replica `namespace/name` is there; one that is gone is forgotten. */
  forgetUnless(exists: (key: string) => boolean): void {
    this.#exists = exists;
  }

  statusWritten: ReplicaMetrics['statusWritten'] = (encoding, result) =>
    this.#writes.inc({ encoding: encodingLabel[encoding], result });

  statusStored: ReplicaMetrics['statusStored'] = (status) => {
    this.#stored.set(`${status.namespace}/${status.name}`, status);
    if (status.convertedFrom === undefined) return;
    this.#conversions.inc({ from: encodingLabel[status.convertedFrom], to: encodingLabel[status.encoding] });
  };

  codecFailed: ReplicaMetrics['codecFailed'] = (reason) => this.#codecErrors.inc({ reason });

  #collect(size: Gauge): void {
    size.reset();
    for (const [key, { namespace, name, component, encoding, bytes }] of this.#stored) {
      if (this.#exists(key)) size.set({ namespace, name, component, encoding: encodingLabel[encoding] }, bytes);
      else this.#stored.delete(key);
    }
  }
}
