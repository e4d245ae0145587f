/** A pod `a` on a real or simulated node: its status, and waiting for it. */
import type { WatchEvent } from '@omenative/kube';
import { type Bed, type Json, type Program, read } from './bed.js';

export interface Terminated {
  readonly exitCode: number;
  readonly reason: string;
  readonly containerID?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly state: {
    readonly waiting?: { readonly reason: string; readonly message?: string };
    readonly running?: Json;
    readonly terminated?: Terminated;
  };
  readonly lastState: { readonly terminated?: Terminated };
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

export interface PodStatus {
  readonly phase: string;
  readonly podIP?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

/** The pod `a`, whose container `main` runs a program unless the spec says otherwise. */
export function podOf(bed: Bed, program: Program, spec: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', ...bed.program(program) }], ...spec },
  };
}

/** The status of the pod `a`, or another one, as it is now. */
export async function statusNow(bed: Bed, name = 'a'): Promise<PodStatus> {
  return (await read(bed, 'pods', name))['status'] as PodStatus;
}

/** The status of the pod that an event tells of. */
export function statusIn(event: WatchEvent): PodStatus {
  return (event.object as { readonly status: PodStatus }).status;
}

/** The phases that events tell of, each change once. */
export function phases(events: readonly WatchEvent[]): readonly string[] {
  const all = events.map((event) => statusIn(event).phase);
  return all.filter((phase, i) => phase !== all[i - 1]);
}

/** The condition of a type. */
export function condition(of: PodStatus, type: string): PodCondition | undefined {
  return of.conditions?.find((one) => one.type === type);
}

export function isReady(of: PodStatus): boolean {
  return condition(of, 'Ready')?.status === 'True';
}

/** What is said of the container `main`, or of another one, init containers included. */
export function container(of: PodStatus, name = 'main'): ContainerStatus {
  const all = [...(of.containerStatuses ?? []), ...(of.initContainerStatuses ?? [])];
  const found = all.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no status of ${name} yet`);
  return found;
}

/** What the first container of a pod waits for. */
export function waitsFor(of: PodStatus): string | undefined {
  return of.containerStatuses?.[0]?.state.waiting?.reason;
}

/** Waits until the status of the pod `a` is as wanted, and returns it. */
export function reaches(
  bed: Bed,
  what: string,
  wanted: (now: PodStatus) => boolean,
  withinMs = 120_000,
): Promise<PodStatus> {
  const probe = async () => {
    const now = await statusNow(bed);
    return wanted(now) ? now : undefined;
  };
  return bed.eventually(what, probe, withinMs);
}

/** Waits until the pod `a` is ready. */
export function ready(bed: Bed): Promise<PodStatus> {
  return reaches(bed, 'the pod ready', isReady);
}
