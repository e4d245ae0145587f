/** A component's pod templates: the runtime's, the InferenceService's over them, and what OME adds to the main container. */
import { type Component, label, mainContainerName, type Runner } from '@omenative/api';
import { asInteger, asRecord, asRecords, asText, asTextMap, type JsonRecord } from '../shared/json.js';
import { mergeComponent, mergeContainer } from './merge.js';
import { podAnnotations } from './metadata.js';
import { isMultiPod } from './mode.js';
import { type ModelView, modelNodeSelector, modelPath, modelVolume } from './model.js';
import { parallelismSize, requestsAny } from './parallelism.js';
import { fillPlaceholders, type PlaceholderValues } from './placeholders.js';
import { RenderError } from './render-error.js';

/** Everything that decides a component's templates. */
export interface TemplateInput {
  readonly component: Component;
  readonly service: PlaceholderValues;
  /** The component as the InferenceService declares it. */
  readonly own: JsonRecord;
  /** The same component of the runtime; empty when the runtime has none. */
  readonly runtime: JsonRecord;
  /** `nodeSelector` and `schedulerName` of the runtime as a whole, and its name. */
  readonly runtimeSpec: JsonRecord;
  readonly runtimeName: string;
  readonly model?: ModelView;
  readonly terminationGracePeriodSeconds?: number;
  readonly acceleratorResources: readonly string[];
  /** Resources that make a pod subject to quota, and keep its queue label; `all`: every pod is. */
  readonly quotaResources: readonly string[] | 'all';
}

export interface RunnerTemplate {
  readonly name: Runner;
  readonly size: number;
  readonly template: JsonRecord;
}

/** Members of a component that are not part of a pod. */
const extensions: ReadonlySet<string> = new Set([
  'minReplicas',
  'maxReplicas',
  'timeoutSeconds',
  'labels',
  'annotations',
  'servicePortAppProtocols',
  'minAvailable',
  'maxUnavailable',
  'deploymentStrategy',
  'lifecycle',
  'autoscaler',
  'autoscalerPolicyRef',
  'leader',
  'worker',
  'size',
  'topologyKey',
  'topologySpread',
  'topologySpreadKey',
  'acceleratorOverride',
  'config',
]);
const queueLabel = 'kueue.x-k8s.io/queue-name';

/**
 * The runners of a component, in pod order.
 *
 * @throws RenderError when there is nothing to run, or what there is makes no pod.
 */
export function renderRunners(input: TemplateInput): readonly RunnerTemplate[] {
  const { component, own, runtime } = input;
  if (!isMultiPod(component, own) && !isMultiPod(component, runtime)) {
    const pod = stack([defaultsOf(input), podPart(runtime), runtimeWide(input), podPart(own)]);
    return finish(input, [{ name: 'default', size: 1, pod }]);
  }
  const merged = mergeComponent(runtime, own);
  for (const [present, absent] of [['leader', 'worker'] as const, ['worker', 'leader'] as const]) {
    if (merged[present] !== undefined && merged[absent] === undefined) {
      const message = `InvalidLeaderWorkerPairing: the ${component} has a ${present} and no ${absent}; add spec.${component}.${absent}, or leave both out`;
      throw new RenderError('InvalidLeaderWorkerPairing', message);
    }
  }
  const part = (role: 'leader' | 'worker'): JsonRecord =>
    stack([
      defaultsOf(input),
      sharedPart(runtime),
      podPart(asRecord(runtime[role])),
      runtimeWide(input),
      sharedPart(own),
      podPart(asRecord(own[role])),
    ]);
  const size = asInteger(asRecord(merged['worker'])['size']) ?? 1;
  if (size < 1) {
    // Only a runtime can say so; its schema lets it, as OME's does, for modes that are not run here.
    const message = `InvalidLeaderWorkerPairing: the runtime gives the ${component} a worker.size of ${size}, and a gang has one worker at least; set spec.${component}.worker.size, or change the runtime`;
    throw new RenderError('InvalidLeaderWorkerPairing', message);
  }
  return finish(input, [
    { name: 'leader', size: 1, pod: part('leader') },
    { name: 'worker', size, pod: part('worker') },
  ]);
}

interface Draft {
  readonly name: Runner;
  readonly size: number;
  /** A pod spec that still holds its `runner`. */
  readonly pod: JsonRecord;
}

/** Adds what depends on the shape of the whole Instance. */
function finish(input: TemplateInput, drafts: readonly Draft[]): readonly RunnerTemplate[] {
  const pods = drafts.map((draft) => ({ draft, ...splitMain(input, draft) }));
  const size = drafts.reduce((sum, draft) => sum + draft.size, 0);
  const parallelism = parallelismSize(
    pods.map((pod) => pod.main),
    size,
    input.acceleratorResources,
  );
  return pods.map(({ draft, main, rest, sidecars }) => {
    const container = mainContainer(input, main, parallelism);
    const pod = input.component === 'router' ? rest : withModel(rest, input.model);
    return {
      name: draft.name,
      size: draft.size,
      template: {
        metadata: templateMetadata(input, draft.name, [container, ...sidecars]),
        spec: { ...pod, containers: [container, ...sidecars] },
      },
    };
  });
}

/** The runner, over the container of its name when the pod lists one; without a runner, the pod's own main container. */
function splitMain(
  input: TemplateInput,
  draft: Draft,
): { readonly main: JsonRecord; readonly rest: JsonRecord; readonly sidecars: readonly JsonRecord[] } {
  const { runner, containers, ...rest } = draft.pod;
  const listed = asRecords(containers);
  const own = asRecord(runner);
  const name = asText(own['name']) || (runner === undefined ? asText(mainOf(listed)['name']) : '') || mainContainerName;
  const main = { ...mergeContainer(listed.find((item) => item['name'] === name) ?? {}, own), name };
  if (asText((main as JsonRecord)['image']) === '') throw noImage(input, draft.name);
  return { main, rest, sidecars: listed.filter((item) => item['name'] !== name) };
}

function mainOf(containers: readonly JsonRecord[]): JsonRecord {
  return containers.find((item) => item['name'] === mainContainerName) ?? containers[0] ?? {};
}

function noImage(input: TemplateInput, runner: Runner): RenderError {
  const { component, runtimeName } = input;
  const at = runner === 'default' ? `spec.${component}.runner` : `spec.${component}.${runner}.runner`;
  const missing = Object.keys(input.runtime).length === 0;
  return new RenderError(
    missing ? 'RuntimePieceMissing' : 'RenderFailed',
    missing
      ? `runtime "${runtimeName}" has no ${component}Config and ${at} has no image: add one of the two`
      : `neither ${at} nor the ${component}Config of runtime "${runtimeName}" names an image: add one`,
  );
}

function mainContainer(input: TemplateInput, merged: JsonRecord, parallelism: number | undefined): JsonRecord {
  const main = fillPlaceholders(merged, input.service);
  const own = asRecords(main['env']);
  const has = (name: string): boolean => own.some((variable) => variable['name'] === name);
  const added: JsonRecord[] = [];
  if (input.component === 'router') {
    const settings = asTextMap(mergeComponent(input.runtime, input.own)['config']);
    for (const [name, value] of Object.entries(settings)) if (!has(name)) added.push({ name, value });
    return withEnv(main, [...added, ...own]);
  }
  const path = input.model === undefined ? '' : modelPath(input.model);
  if (path !== '' && !has('MODEL_PATH')) added.push({ name: 'MODEL_PATH', value: path });
  if (parallelism === undefined) return withMount(withEnv(main, [...added, ...own]), input.model);
  added.push({ name: 'PARALLELISM_SIZE', value: String(parallelism) });
  const others = own.filter((variable) => variable['name'] !== 'PARALLELISM_SIZE');
  return withMount(withEnv(main, [...added, ...others]), input.model);
}

/** What is added stands first: a variable may refer only to those before it. */
function withEnv(container: JsonRecord, env: readonly JsonRecord[]): JsonRecord {
  return env.length === 0 ? container : { ...container, env };
}

function withMount(container: JsonRecord, model: ModelView | undefined): JsonRecord {
  const mount = model === undefined ? undefined : modelVolume(model)?.mount;
  const mounts = asRecords(container['volumeMounts']);
  if (mount === undefined || mounts.some((held) => held['mountPath'] === mount['mountPath'])) return container;
  return { ...container, volumeMounts: [...mounts, mount] };
}

function withModel(pod: JsonRecord, model: ModelView | undefined): JsonRecord {
  if (model === undefined) return pod;
  const volume = modelVolume(model)?.volume;
  const nodes = modelNodeSelector(model);
  return {
    ...pod,
    ...(volume === undefined ? {} : { volumes: [...asRecords(pod['volumes']), volume] }),
    ...(nodes === undefined ? {} : { nodeSelector: { ...asTextMap(pod['nodeSelector']), ...nodes } }),
  };
}

function templateMetadata(input: TemplateInput, runner: Runner, containers: readonly JsonRecord[]): JsonRecord {
  const merged = mergeComponent(input.runtime, input.own);
  const { annotations } = podAnnotations(input.service.annotations, asTextMap(merged['annotations']));
  const { [queueLabel]: ownQueue, ...labels } = asTextMap(merged['labels']);
  const queue = ownQueue ?? input.service.labels[queueLabel];
  const isUnderQuota = input.quotaResources === 'all' || requestsAny(containers, input.quotaResources);
  return {
    labels: {
      ...labels,
      ...(queue !== undefined && isUnderQuota ? { [queueLabel]: queue } : {}),
      ...labelOf('serving-runtime', input.runtimeName),
      ...(input.model === undefined ? {} : labelOf('base-model-name', input.model.name)),
      [label.runner]: runner,
    },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** An informational label, left out when its value would be no label value: nothing depends on it. */
function labelOf(key: string, value: string): Readonly<Record<string, string>> {
  return /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value) ? { [key]: value } : {};
}

function defaultsOf(input: TemplateInput): JsonRecord {
  const { schedulerName } = input.runtimeSpec;
  const { terminationGracePeriodSeconds } = input;
  return {
    ...(schedulerName === undefined ? {} : { schedulerName }),
    ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
  };
}

/** The runtime's node selector stands above its component's, and below the InferenceService's; routers run anywhere. */
function runtimeWide(input: TemplateInput): JsonRecord {
  const { nodeSelector } = input.runtimeSpec;
  return input.component === 'router' || nodeSelector === undefined ? {} : { nodeSelector };
}

/** The members of a side that make a pod, its runner among them. */
function podPart(side: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(side).filter(([key]) => !extensions.has(key)));
}

/** What the pods of a gang have in common: all but containers, which belong to the leader and the workers alone. */
function sharedPart(side: JsonRecord): JsonRecord {
  const { runner: _runner, containers: _containers, ...shared } = podPart(side);
  return shared;
}

function stack(layers: readonly JsonRecord[]): JsonRecord {
  return layers.reduce((below, above) => mergeComponent(below, above), {});
}
