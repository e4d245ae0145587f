/** Pods in the middle of an update in place, for tests. */
import type { ContainerView, GateHold, InPlaceMarker, PodView, UpdatePolicy } from '../snapshot.js';
import { type PodOptions, pod } from './world.js';

/** The policy of an update in place that takes its pod out of rotation. */
export const inPlacePolicy: UpdatePolicy = { type: 'InPlaceIfPossible', partition: 0, inPlace: 'markNotReady' };

/** Who keeps the pod of Instance 0 out of rotation meanwhile. */
export const inPlaceHeld: GateHold = { writer: 'UpdateInPlace', key: '0-1' };

export interface PatchedOptions extends PodOptions {
  /** The image in its spec; `image` is the one that its label speaks of. */
  readonly wanted?: string;
  /** The image that its kubelet reports. */
  readonly running?: string;
  readonly restarts?: number;
  readonly marker?: InPlaceMarker;
  readonly container?: Partial<ContainerView>;
}

/** A pod whose container is asked to run `wanted` (v2 unless said) and reports `running` (v1 unless said). */
export function patched(options: PatchedOptions = {}): PodView {
  const { wanted = 'v2', running = 'v1', restarts = 0, marker, container } = options;
  const one = pod({ image: 'v2', health: 'drained', gate: { state: 'false', holds: [inPlaceHeld] }, ...options });
  return {
    ...one,
    ...(marker === undefined ? {} : { inPlace: marker }),
    containers: one.containers.map((found) => ({
      ...found,
      image: wanted,
      imageID: running,
      runningImage: running,
      restartCount: restarts,
      ...container,
    })),
  };
}

/** A drained pod of v1. */
export const drained: PodView = pod({ health: 'drained', gate: { state: 'false', holds: [inPlaceHeld] } });
