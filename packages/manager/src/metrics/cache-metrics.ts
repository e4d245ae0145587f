/** How the caches keep up with the API server, one series a resource. */
import type { InformerStats } from '@omenative/kube';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface CacheReading {
  /** `pods`, `inferencereplicas.ome.io`. */
  readonly resource: string;
  readonly stats: InformerStats;
}

type Series = readonly [name: string, help: string, read: (stats: InformerStats) => number];

const gauges: readonly Series[] = [
  ['objects', 'Objects held.', (stats) => stats.objects],
  ['isolated_objects', 'Objects that exist and could not be understood.', (stats) => stats.isolatedObjects],
  ['synced', '1 once a first complete list is in.', (stats) => (stats.synced ? 1 : 0)],
  ['last_event_age_seconds', 'Seconds since the stream last said anything.', (stats) => stats.lastActivityAgeMs / 1000],
];

const counters: readonly Series[] = [
  ['events_total', 'Events heard.', (stats) => stats.events],
  ['lists_total', 'Complete lists, the first included.', (stats) => stats.lists],
  ['resumes_total', 'Streams opened again where the last one ended.', (stats) => stats.resumes],
  ['older_lists_total', 'Lists refused because they lay before what is known.', (stats) => stats.olderLists],
  ['silences_total', 'Streams given up because nothing came.', (stats) => stats.silences],
];

/** Registers the metrics; `read` is called once for each of them at every scrape. */
export function cacheMetrics(registry: Registry, read: () => readonly CacheReading[]): void {
  for (const [name, help, value] of gauges) {
    const gauge = new Gauge({
      ...named(name, help),
      collect() {
        for (const { resource, stats } of read()) this.set({ resource }, value(stats));
      },
    });
    registry.registerMetric(gauge);
  }
  for (const [name, help, value] of counters) {
    const counter = new Counter({
      ...named(name, help),
      collect() {
        // Counted by the caches themselves, since their start.
        this.reset();
        for (const { resource, stats } of read()) this.inc({ resource }, value(stats));
      },
    });
    registry.registerMetric(counter);
  }
}

function named(name: string, help: string): { name: string; help: string; labelNames: string[]; registers: [] } {
  return { name: `ome_omenative_cache_${name}`, help, labelNames: ['resource'], registers: [] };
}
