/** The spec of a replica with every default filled in, or the reason why it can't be run. */
import { type Component, components, controllerRevisionName, type Runner } from '@omenative/api';
import type { IntOrPercent, PlanSpec, RevisionPayload, UpdatePolicy } from '@omenative/engine';
import { parseDurationMs } from '../shared/duration.js';
import { asInteger, asRecord, asRecords, asText, asTextMap, type JsonRecord } from '../shared/json.js';
import { excludedKeysOf, splitMetadata, type TemplateMetadata } from './metadata-rules.js';
import type { ReplicaRecord } from './replica-record.js';

/** What a pod takes from the spec of the day, outside any revision. */
export interface LiveTemplate {
  readonly metadata: TemplateMetadata;
  readonly topologySpread?: 'Preferred' | 'Required';
  /** '' when neither a spread key nor a topology key is set. */
  readonly topologySpreadKey: string;
}

export type SpecView =
  | { readonly ok: true; readonly spec: PlanSpec; readonly live: LiveTemplate }
  /** `reason` is that of the `Ready` condition and of the Warning event. */
  | { readonly ok: false; readonly reason: 'TemplateSourceMissing' | 'RenderFailed'; readonly message: string };

/** Operator settings that a spec may fall back to. */
export interface SpecDefaults {
  /** Seconds; absent: no limit. */
  readonly instanceReadyTimeoutSec?: number;
}

const updateTypes = ['SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly'] as const;

interface RunnerTemplate {
  readonly name: Runner;
  readonly size: number;
  readonly spec: unknown;
  readonly metadata: TemplateMetadata;
}

/**
 * Reads and normalises a spec. `isRevision` answers whether a name is a stored revision of this replica: a rollback to any
 * other name is ignored.
 */
export function specViewOf(
  record: ReplicaRecord,
  defaults: SpecDefaults,
  isRevision: (name: string) => boolean,
): SpecView {
  const { spec, owner } = record;
  const component = components.find((name) => name === spec['component']);
  if (component === undefined) {
    return failed('RenderFailed', `spec.component "${asText(spec['component'])}" is not engine, decoder or router`);
  }
  const runners = runnersOf(spec);
  if (typeof runners === 'string') return failed('RenderFailed', runners);
  if (runners.length === 0) {
    return failed('TemplateSourceMissing', 'spec.runners is empty: give it a default runner, or a leader and a worker');
  }
  const { payload, metadata } = payloadOf(spec, runners, excludedKeysOf(record.meta.annotations));
  const topologySpread = spec['topologySpread'];
  return {
    ok: true,
    spec: planSpec(record, component, owner, runners, payload, defaults, isRevision),
    live: {
      metadata,
      ...(topologySpread === 'Preferred' || topologySpread === 'Required' ? { topologySpread } : {}),
      topologySpreadKey: asText(spec['topologySpreadKey']) || asText(spec['topologyKey']),
    },
  };
}

/** A view that is good for nothing but taking the replica down: it asks for no pod. */
export function teardownViewOf(record: ReplicaRecord): SpecView & { readonly ok: true } {
  const runner = { name: 'default', size: 1 } as const;
  const payload: RevisionPayload = { runners: [{ ...runner, template: {} }] };
  const component = components.find((name) => name === record.spec['component']) ?? 'engine';
  return {
    ok: true,
    spec: planSpec(
      record,
      component,
      record.owner,
      [{ ...runner, spec: {}, metadata: noMetadata }],
      payload,
      {},
      () => false,
    ),
    live: { metadata: noMetadata, topologySpreadKey: '' },
  };
}

const noMetadata: TemplateMetadata = { labels: {}, annotations: {} };

function failed(reason: 'TemplateSourceMissing' | 'RenderFailed', message: string): SpecView {
  return { ok: false, reason, message };
}

/** The runners in pod order: the default one alone, or leader before worker. A sentence when they make no Instance. */
function runnersOf(spec: JsonRecord): readonly RunnerTemplate[] | string {
  const listed = asRecords(spec['runners']).map((runner) => {
    const template = asRecord(runner['template']);
    const metadata = asRecord(template['metadata']);
    return {
      name: asText(runner['name']),
      size: Math.max(1, asInteger(runner['size']) ?? 1),
      spec: asRecord(template['spec']),
      metadata: { labels: asTextMap(metadata['labels']), annotations: asTextMap(metadata['annotations']) },
    };
  });
  const named = (name: Runner): RunnerTemplate | undefined => {
    const runner = listed.find((item) => item.name === name);
    // A default runner and a leader are one pod by contract, whatever size says.
    return runner === undefined ? undefined : { ...runner, name, size: name === 'worker' ? runner.size : 1 };
  };
  const single = named('default');
  const leader = named('leader');
  const worker = named('worker');
  if (single !== undefined && listed.length === 1) return [single];
  if (leader !== undefined && listed.length <= 2) {
    if (worker !== undefined) return [leader, worker];
    if (listed.length === 1) return 'spec.runners has a leader and no worker: add one, or name the runner default';
  }
  if (listed.length === 0) return [];
  const names = listed.map((runner) => runner.name || '""').join(', ');
  return `spec.runners [${names}] is neither a default runner alone nor a leader and a worker`;
}

function payloadOf(
  spec: JsonRecord,
  runners: readonly RunnerTemplate[],
  excludedAnnotations: ReadonlySet<string>,
): { readonly payload: RevisionPayload; readonly metadata: TemplateMetadata } {
  const topologyKey = asText(spec['topologyKey']);
  const pairingProtocol = asText(spec['pairingProtocol']);
  const split = runners.map((runner) => splitMetadata(runner.metadata, excludedAnnotations));
  return {
    payload: {
      runners: runners.map(({ name, size, spec: podSpec }, at) => ({
        name,
        size,
        template: { ...metadataMember(split[at]?.hashed), spec: podSpec },
      })),
      ...(topologyKey === '' ? {} : { topologyKey }),
      ...(pairingProtocol === '' ? {} : { pairingProtocol }),
    },
    metadata: split[0]?.live ?? noMetadata,
  };
}

/** Absent and empty are the same to a pod, so they must be the same to the hash: what is empty is left out. */
function metadataMember(metadata: TemplateMetadata | undefined): JsonRecord {
  const kept = Object.entries(metadata ?? {}).filter(([, map]) => Object.keys(map).length > 0);
  return kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) };
}

function planSpec(
  record: ReplicaRecord,
  component: Component,
  owner: string,
  runners: readonly RunnerTemplate[],
  payload: RevisionPayload,
  defaults: SpecDefaults,
  isRevision: (name: string) => boolean,
): PlanSpec {
  const { spec } = record;
  const lifecycle = asRecord(spec['lifecycle']);
  const instanceReadyTimeoutSec = timeoutSec(lifecycle['instanceReadyTimeout']) ?? defaults.instanceReadyTimeoutSec;
  const rollbackTo = revisionFrom(asText(asRecord(spec['pacing'])['rollbackToRevision']), owner, component);
  const revisionHistoryLimit = asInteger(spec['revisionHistoryLimit']);
  return {
    component,
    owner,
    replicas: Math.max(1, asInteger(spec['replicas']) ?? 1),
    minReadySeconds: Math.max(0, asInteger(spec['minReadySeconds']) ?? 0),
    runners: runners.map(({ name, size }) => ({ name, size })),
    restartPolicy: restartPolicyOf(lifecycle['restartPolicy'], runners.length),
    update: updatePolicyOf(spec, lifecycle),
    ...(instanceReadyTimeoutSec === undefined ? {} : { instanceReadyTimeoutSec }),
    pause: pauseOf(spec),
    ...(isRevision(rollbackTo) ? { rollbackTo } : {}),
    ...(revisionHistoryLimit === undefined || revisionHistoryLimit < 1 ? {} : { revisionHistoryLimit }),
    payload,
  };
}

/** A revision by its name or, as elsewhere, by its hash alone. */
function revisionFrom(text: string, owner: string, component: Component): string {
  return /^[0-9a-f]{8}$/.test(text) ? controllerRevisionName(owner, component, text) : text;
}

function restartPolicyOf(value: unknown, runners: number): PlanSpec['restartPolicy'] {
  if (value === 'None' || value === 'RecreateInstanceOnPodRestart') return value;
  return runners > 1 ? 'RecreateInstanceOnPodRestart' : 'None';
}

function pauseOf(spec: JsonRecord): PlanSpec['pause'] {
  if (spec['paused'] !== true) return 'running';
  return spec['pauseMode'] === 'Freeze' ? 'freeze' : 'recover';
}

function updatePolicyOf(spec: JsonRecord, lifecycle: JsonRecord): UpdatePolicy {
  const strategy = asRecord(lifecycle['updateStrategy']);
  const rolling = asRecord(strategy['rollingUpdate']);
  const inPlace = asRecord(strategy['inPlaceUpdateStrategy']);
  const maxSurge = intOrPercent(rolling['maxSurge']);
  const maxUnavailable = intOrPercent(rolling['maxUnavailable']);
  // A canary sets the pacing: its explicit 0 lets every Instance go, whatever the user's strategy keeps back.
  const partition = asInteger(asRecord(spec['pacing'])['partition']) ?? asInteger(rolling['partition']) ?? 0;
  return {
    type: updateTypes.find((type) => type === strategy['type']) ?? 'SurgeThenDrain',
    partition: Math.max(0, partition),
    ...(maxSurge === undefined ? {} : { maxSurge }),
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    inPlace: inPlace['markNotReadyDuringLifecycle'] === false ? 'keepReady' : 'markNotReady',
  };
}

function intOrPercent(value: unknown): IntOrPercent | undefined {
  const count = asInteger(value);
  if (count !== undefined) return count;
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? value : undefined;
}

/** Undefined for what counts as unset: absent, zero, negative or unreadable. At least one second, the grain of a status. */
function timeoutSec(value: unknown): number | undefined {
  const ms = parseDurationMs(asText(value));
  return ms === undefined || ms <= 0 ? undefined : Math.max(1, Math.floor(ms / 1000));
}
