/** Raw objects for tests. */
import type { KubeObject } from '../resources.js';

export interface RawPodOptions {
  readonly namespace?: string;
  /** Default: `uid-` and the name. */
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly phase?: string;
}

export interface RawPod extends KubeObject {
  readonly status: { readonly phase: string };
}

/** A pod of namespace `default` at a resourceVersion. */
export function rawPod(name: string, resourceVersion: string | number, options: RawPodOptions = {}): RawPod {
  const { namespace = 'default', uid = `uid-${name}`, labels = {}, deletionTimestamp, phase = 'Running' } = options;
  return {
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: String(resourceVersion),
      labels,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    status: { phase },
  };
}

/** The same pod as it is last seen when it was deleted. */
export function deletedPod(name: string, resourceVersion: string | number, options: RawPodOptions = {}): RawPod {
  return rawPod(name, resourceVersion, { deletionTimestamp: '2026-01-01T00:00:00Z', ...options });
}
