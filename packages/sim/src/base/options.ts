/** What a cluster can be told about itself: delays, images, limits. Durations are milliseconds. */

import type { Range } from './random.js';

/** What a container of an image does, in place of a process. */
export interface Script {
  readonly pullMs: Range;
  /** `fail` never pulls; `failTimes` pulls after that many refusals. */
  readonly pull: 'ok' | 'fail' | { readonly failTimes: number };
  /** From pulled to running. */
  readonly startMs: Range;
  /** From running to a passing readiness probe; without a probe a container is ready as soon as it runs. */
  readonly readyMs: Range | 'never';
  /** From running to an exit of its own; absent: it runs until told to end. */
  readonly exitMs?: Range;
  /** How many times it exits before it stays up; absent: every time. */
  readonly exitTimes?: number;
  readonly exitCode: number;
  /** What it does on SIGTERM: end after `termMs`, or go on until SIGKILL. */
  readonly onTerm: 'exit' | 'ignore';
  readonly termMs: Range;
  readonly termExitCode: number;
  /** The image's digest; images of one digest are the same image. Default: derived from the image name. */
  readonly digest?: string;
}

export interface WorldOptions {
  /** By a prefix of the image name, the longest match wins; `*` is the default. Missing fields come from the default. */
  readonly imageScripts: Readonly<Record<string, Partial<Script>>>;
  /** From a write to the kubelet of the pod's node seeing it. */
  readonly kubeletLagMs: Range;
  /** From a container's change to the kubelet's status write. */
  readonly statusLagMs: Range;
  /** How far each node's clock is from the server's. */
  readonly nodeClockSkewMs: Range;
  /** From a pod being pending, or the cluster changing, to the scheduler's next attempt. */
  readonly schedulerLagMs: Range;
  /** Scheduler names that the one scheduler answers to. Pods of other names stay pending. */
  readonly schedulerNames: readonly string[];
  /** Scheduler names under which PodGroups are honoured: all members or none. */
  readonly gangSchedulerNames: readonly string[];
  readonly endpointsLagMs: Range;
  /** From an owner's deletion to the collection of its dependants. */
  readonly collectorLagMs: Range;
  readonly namespaceLagMs: Range;
  /** From a deletion to the release of its quota. */
  readonly quotaLagMs: Range;
  /** How stale the slices are that traffic is routed by. */
  readonly proxyLagMs: Range;
  /** A node that has not been heard of for this long is Unknown. */
  readonly nodeGraceMs: number;
  /** First and longest wait of a crashing container. */
  readonly crashBackoffMs: Range;
  /** First and longest wait of an image that can't be pulled. */
  readonly pullBackoffMs: Range;
  /** Largest request body, and largest stored object, in bytes of JSON. */
  readonly maxRequestBytes: number;
  readonly maxObjectBytes: number;
  /** Whether writes other than server-side apply are recorded in managedFields. */
  readonly managedFields: 'all' | 'apply';
  /** Probability that a pod is refused by the kubelet of its node: OutOfcpu or UnexpectedAdmissionError. */
  readonly admissionRejectChance: number;
  /** Whether the scheduler and the kubelets write Event objects. */
  readonly partEvents: 'recorded' | 'silent';
  /** Trace lines kept in memory. */
  readonly traceLines: number;
}

export const DEFAULT_SCRIPT: Script = {
  pullMs: [100, 800],
  pull: 'ok',
  startMs: [50, 400],
  readyMs: [200, 1500],
  exitCode: 0,
  onTerm: 'exit',
  termMs: [5, 200],
  termExitCode: 0,
};

export const DEFAULT_OPTIONS: WorldOptions = {
  imageScripts: {},
  kubeletLagMs: [200, 2000],
  statusLagMs: [10, 150],
  nodeClockSkewMs: [0, 0],
  schedulerLagMs: [2, 60],
  schedulerNames: ['default-scheduler', 'scheduler-plugins-scheduler', 'ome-scheduler'],
  gangSchedulerNames: ['scheduler-plugins-scheduler', 'ome-scheduler'],
  endpointsLagMs: [20, 400],
  collectorLagMs: [50, 800],
  namespaceLagMs: [100, 1000],
  quotaLagMs: [100, 3000],
  proxyLagMs: [50, 1000],
  nodeGraceMs: 40_000,
  crashBackoffMs: [10_000, 300_000],
  pullBackoffMs: [10_000, 300_000],
  maxRequestBytes: 3 * 1024 * 1024,
  maxObjectBytes: 1.5 * 1024 * 1024,
  managedFields: 'all',
  admissionRejectChance: 0,
  partEvents: 'silent',
  traceLines: 20_000,
};

/** The script of an image. */
export function scriptFor(options: WorldOptions, image: string): Script {
  let best = '*';
  for (const prefix of Object.keys(options.imageScripts)) {
    if (prefix !== '*' && image.startsWith(prefix) && (best === '*' || prefix.length > best.length)) best = prefix;
  }
  return { ...DEFAULT_SCRIPT, ...options.imageScripts['*'], ...options.imageScripts[best] };
}
