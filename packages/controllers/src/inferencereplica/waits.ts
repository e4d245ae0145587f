/**
 * Tells of waits: each once when it begins, in its own words. What every rollout has is for the log's debug level; what
 * stands until somebody does something is a warning, in the log and as an Event.
 */
import type { EventIntent, Hold } from '@omenative/engine';
import type { LogLevel } from '../shared/log.js';

type Reason = Hold['is'];

/** Waits that end by themselves in the course of things. */
const ordinary: ReadonlySet<Reason> = new Set<Reason>([
  'AdmissionGated',
  'Starting',
  'MinReady',
  'Draining',
  'PodsTerminating',
  'Batch',
  'RecyclePacing',
  'ApiBudget',
  'Blind',
  'Unproved',
  'TemplateCheck',
  'DeleteQueue',
  'Teardown',
]);

/** Waits that have an Event of their own where they arise. */
const saidElsewhere: ReadonlySet<Reason> = new Set<Reason>([
  'Paused',
  'Failed',
  'NameTaken',
  'Pairing',
  'Ratio',
  'Sequential',
  'Budget',
  'RetryBlock',
  'Held',
  'Plan',
]);

/** What the cluster says of these changes from minute to minute; the wait is the same. */
const sameWhateverIsSaid: ReadonlySet<Reason> = new Set<Reason>([
  'QuotaExceeded',
  'AdmissionUnavailable',
  'Unschedulable',
]);

export interface Told {
  readonly level: LogLevel;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly event?: EventIntent;
}

/** The waits of each replica as last seen, by its UID. In memory: losing it repeats a line, and no Event. */
export class Waits {
  readonly #standing: Map<string, ReadonlySet<string>> = new Map();

  /** What to tell of the holds of one plan: those that were not in the plan before it. */
  begun(replicaUid: string, holds: readonly Hold[]): readonly Told[] {
    const before = this.#standing.get(replicaUid);
    const now = new Map(holds.map((hold) => [keyOf(hold), hold]));
    this.#standing.set(replicaUid, new Set(now.keys()));
    return [...now].filter(([key]) => before?.has(key) !== true).map(([key, hold]) => told(key, hold));
  }

  /** The replica is no more. */
  forget(replicaUid: string): void {
    this.#standing.delete(replicaUid);
  }
}

function keyOf(hold: Hold): string {
  return `${hold.is}/${hold.index ?? ''}/${ordinary.has(hold.is) || sameWhateverIsSaid.has(hold.is) ? '' : hold.text}`;
}

function told(key: string, hold: Hold): Told {
  const fields = { hold: hold.is, ...(hold.index === undefined ? {} : { instance: hold.index }) };
  if (ordinary.has(hold.is)) return { level: 'debug', text: hold.text, fields };
  if (saidElsewhere.has(hold.is)) return { level: 'info', text: hold.text, fields };
  return {
    level: 'warn',
    text: hold.text,
    fields,
    event: { reason: 'Waiting', type: 'Warning', episode: key, text: `${hold.is}: ${hold.text}` },
  };
}
