/** Passes over the harness's replica with a planner of the test's own. */
import type { DecodedStatus } from '@omenative/api';
import type { Plan, Snapshot } from '@omenative/engine';
import { Limiter } from '../../shared/limiter.js';
import type { Slice } from '../act.js';
import { Inbox } from '../inbox.js';
import { noMetrics } from '../metrics.js';
import { OwnWrites } from '../own-writes.js';
import { type PassDeps, type PassEnd, runPass } from '../pass.js';
import { Teller } from '../tell.js';
import { TemplateChecks } from '../template-check.js';
import type { Harness } from './harness.js';
import { namespace } from './objects.js';

/** A plan that wants nothing. */
export const idle: Plan = { reads: [], prepare: [], urgency: 'now', chains: [], events: [], holds: [] };

/** Plans that change nothing but one number of the status, so that they are easily told apart. */
export function planned(snapshot: Snapshot, more: Partial<DecodedStatus>, rest: Partial<Plan> = {}): Plan {
  return { ...idle, status: { ...snapshot.status, ...more }, ...rest };
}

export interface Passes {
  readonly deps: PassDeps;
  readonly snapshots: readonly Snapshot[];
  run(): Promise<PassEnd>;
}

export function passesOf(
  harness: Harness,
  planner: (snapshot: Snapshot, call: number) => Plan,
  slice: Slice = { maxMs: 1000, maxEffects: 100 },
): Passes {
  const { client, runtime, caches, config } = harness;
  const snapshots: Snapshot[] = [];
  const log = (_level: string, message: string): void => {
    harness.logged.push(message);
  };
  const limiter = new Limiter(8);
  const deps: PassDeps = {
    client,
    runtime,
    caches,
    settings: () => config.current(),
    planner: (snapshot) => {
      snapshots.push(snapshot);
      return planner(snapshot, snapshots.length);
    },
    ownWrites: new OwnWrites(runtime, caches.pods),
    inbox: new Inbox(),
    limiter,
    slice,
    teller: new Teller({ record: (event) => harness.recorded.push(event) }, log, caches.inferenceServices),
    templateChecks: new TemplateChecks({ client, runtime, limiter }),
    metrics: noMetrics,
    statusEncoding: config.current().omenativeStatus,
    writtenAtMs: new Map(),
  };
  return { deps, snapshots, run: () => runPass(deps, `${namespace}/chat-engine`) };
}
