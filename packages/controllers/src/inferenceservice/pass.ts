/** One pass of one InferenceService: observe, render, act, persist, and tell. */
import { apiVersion, formatTime } from '@omenative/api';
import type { OperatorSettings } from '../config/settings.js';
import type { EventSink } from '../shared/events.js';
import { asRecords, asText, type JsonRecord } from '../shared/json.js';
import type { Log } from '../shared/log.js';
import { type ActDeps, act } from './act.js';
import { nameRetryMs } from './name-holds.js';
import { isBehind, type ObserveContext, observe } from './observe.js';
import { persistStatus } from './persist.js';
import { render } from './render.js';
import type { InferenceServiceRecord } from './service-record.js';
import { serviceStatus } from './status.js';
import { eventsOf } from './tell.js';
import { isVirtual, virtualStatus } from './virtual.js';
import type { WritePacing } from './write-pacing.js';

export interface PassDeps extends ActDeps {
  readonly caches: ObserveContext['caches'];
  readonly settings: () => OperatorSettings;
  readonly quotaResources: ObserveContext['quotaResources'];
  readonly events: EventSink;
  readonly log: Log;
  readonly pacing: WritePacing;
}

/** When to come again, if nothing else wakes us before. */
export interface PassEnd {
  readonly again: 'backoff' | 'whenWoken';
  readonly afterMs?: number;
}

const settled: PassEnd = { again: 'whenWoken' };
const later: PassEnd = { again: 'backoff' };

/** @throws ApiError when the server refuses the status. */
export async function runPass(deps: PassDeps, key: string): Promise<PassEnd> {
  const { caches, quotaResources, runtime } = deps;
  const world = observe({ caches, settings: deps.settings(), quotaResources }, key);
  if (world === undefined) deps.pacing.forget(key);
  // A service that is going takes its objects with it: the garbage collector does, in the order the owners say.
  if (world === undefined || world.service.meta.deletionAt !== undefined) return settled;
  // The event that the cache has yet to hear wakes us.
  if (isBehind(world)) return settled;
  const nowText = formatTime(Math.floor(runtime.nowMs() / 1000));
  if (isVirtual(world.service)) {
    const persisted = await persistStatus(deps, world.service, virtualStatus(world.service, nowText));
    return persisted === 'stale' ? later : settled;
  }
  const plan = render(world);
  const report = await act(deps, world, plan);
  const status = serviceStatus(world, { ...plan, components: report.components }, report, nowText);
  const waitMs = deps.pacing.waitMs(key, world.service.status, status);
  const persisted = waitMs > 0 ? 'unchanged' : await persistStatus(deps, world.service, status);
  if (persisted === 'written') {
    deps.pacing.written(key);
    logReadiness(deps.log, world.service, status);
  }
  const { namespace, name, uid } = world.service.meta;
  for (const event of eventsOf(world, plan, report)) {
    deps.events.record({ ...event, regarding: { apiVersion, kind: 'InferenceService', namespace, name, uid } });
  }
  if (report.isDisturbed || persisted === 'stale') return later;
  const isNameTaken = [
    ...report.failed.values(),
    ...(report.entryFailed === undefined ? [] : [report.entryFailed]),
  ].some((problem) => problem.reason.endsWith('NameTaken'));
  const waits = [...(isNameTaken ? [nameRetryMs] : []), ...(waitMs > 0 ? [waitMs] : [])];
  return waits.length === 0 ? settled : { again: 'whenWoken', afterMs: Math.min(...waits) };
}

/** One line when an InferenceService becomes ready, or stops being it. */
function logReadiness(log: Log, service: InferenceServiceRecord, status: JsonRecord): void {
  const [before, after] = [readyOf(service.status), readyOf(status)];
  if (before['status'] === after['status']) return;
  const { namespace, name } = service.meta;
  const reason = asText(after['reason']);
  const what = `Ready is ${asText(after['status'])}${reason === '' ? '' : `: ${reason}`}`;
  log('info', `InferenceService ${namespace}/${name}: ${what}`, { namespace, name, message: asText(after['message']) });
}

function readyOf(status: JsonRecord): JsonRecord {
  return asRecords(status['conditions']).find((condition) => condition['type'] === 'Ready') ?? {};
}
