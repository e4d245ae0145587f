/** The environment that tells a container where it stands: its Instance, its runner, and in a gang its peers. */
import {
  type Component,
  headlessServiceName,
  type Index,
  instanceSubdomain,
  leaderAddress,
  podName,
  type Runner,
} from '@omenative/api';
import type { RunnerSpec } from '@omenative/engine';
import { asRecord, asRecords, asText, type JsonRecord } from '../shared/json.js';

/** Where a pod stands. */
export interface PodPlace {
  readonly owner: string;
  readonly component: Component;
  readonly index: Index;
  readonly runner: Runner;
  readonly ordinal: number;
  /** The runners of the pod's revision, in pod order. */
  readonly runners: readonly RunnerSpec[];
}

/** Tells the pods of a gang how many they are. */
export const podCountVariable = 'OME_INSTANCE_POD_COUNT';

const tpuResource = 'google.com/tpu';
const tpuProcessPort = '8476';

/** A container with our variables before its own: a variable can only refer to those before it. Ours win a shared name. */
export function withEnvironment(container: JsonRecord, place: PodPlace, replicas: number): JsonRecord {
  const ours = [
    ...instanceVariables(place, replicas),
    ...(isGang(place) ? gangVariables(place) : []),
    ...(isGang(place) && requestsTpu(container) ? tpuVariables(place) : []),
  ];
  const taken = new Set(ours.map(([name]) => name));
  const theirs = asRecords(container['env']).filter((variable) => !taken.has(asText(variable['name'])));
  return { ...container, env: [...ours.map(([name, value]) => ({ name, value })), ...theirs] };
}

type Variable = readonly [name: string, value: string];

function instanceVariables(place: PodPlace, replicas: number): readonly Variable[] {
  const { owner, component, index, runner, ordinal } = place;
  const size = place.runners.find((item) => item.name === runner)?.size ?? 1;
  return [
    ['OME_INFERENCESERVICE_NAME', owner],
    ['OME_COMPONENT', component],
    ['OME_COMPONENT_REPLICAS', String(replicas)],
    ['OME_INSTANCE_INDEX', String(index)],
    ['OME_RUNNER', runner],
    ['OME_RUNNER_SIZE', String(size)],
    // A pod that is alone in its runner is its first, in whichever name slot a surge has put it.
    ['OME_RUNNER_INDEX', String(size <= 1 ? 0 : ordinal)],
    ['OME_INSTANCE_SUBDOMAIN', instanceSubdomain(owner, component, index)],
  ];
}

function gangVariables(place: PodPlace): readonly Variable[] {
  const { owner, component, index } = place;
  return [
    ['OME_LEADER_ADDRESS', leaderAddress(owner, component, index)],
    ['OME_INSTANCE_POD_RANK', String(rankOf(place))],
    [podCountVariable, String(podCount(place))],
  ];
}

function tpuVariables(place: PodPlace): readonly Variable[] {
  const { owner, component, index } = place;
  const hosts = place.runners.flatMap(({ name, size }) =>
    Array.from(
      { length: size },
      (_, ordinal) => `${podName(owner, component, index, name, ordinal)}.${headlessServiceName(owner, component)}`,
    ),
  );
  return [
    ['TPU_WORKER_HOSTNAMES', hosts.join(',')],
    ['TPU_WORKER_ID', String(rankOf(place))],
    ['TPU_PROCESS_ADDRESSES', hosts.map((host) => `${host}:${tpuProcessPort}`).join(',')],
    ['TPU_PROCESS_PORT', tpuProcessPort],
    ['TPU_NAME', instanceSubdomain(owner, component, index)],
  ];
}

/** Whether the Instance has a leader and workers. */
export function isGang(place: Pick<PodPlace, 'runners'>): boolean {
  return place.runners.some((runner) => runner.name === 'leader');
}

/** Pods of one Instance. */
export function podCount(place: Pick<PodPlace, 'runners'>): number {
  return place.runners.reduce((sum, runner) => sum + runner.size, 0);
}

/** Position in the Instance: the leader is 0, worker k is k + 1. */
function rankOf(place: PodPlace): number {
  const at = place.runners.findIndex((runner) => runner.name === place.runner);
  return podCount({ runners: place.runners.slice(0, Math.max(0, at)) }) + place.ordinal;
}

function requestsTpu(container: JsonRecord): boolean {
  const resources = asRecord(container['resources']);
  return [resources['limits'], resources['requests']].some((list) => asRecord(list)[tpuResource] !== undefined);
}
