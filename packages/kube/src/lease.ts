/** The Lease object that copies of one process use to agree on which of them works. */
import type { KubeMetadata, KubeObject, ResourceType } from './resources.js';
import { formatMicroTime } from './timestamps.js';

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** Empty or absent: nobody. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder has changed. */
  readonly leaseTransitions?: number;
}

export const leases: ResourceType<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

/** Who holds or wants the lease, and for how long at a time. */
export interface LeaseClaim {
  readonly identity: string;
  readonly durationMs: number;
  /** Wall clock, milliseconds since the epoch: for people, never compared. */
  readonly nowMs: number;
}

/** The lease as it is to be once `claim` has taken it, or taken it again. */
export function claimed(lease: Lease | undefined, metadata: KubeMetadata, claim: LeaseClaim): Lease {
  const { spec = {} } = lease ?? {};
  const now = formatMicroTime(claim.nowMs);
  const isRenewal = spec.holderIdentity === claim.identity;
  return {
    ...lease,
    metadata: lease?.metadata ?? metadata,
    spec: {
      ...spec,
      holderIdentity: claim.identity,
      // The wire has whole seconds. Rounded up: who waits for us to expire may wait too long, never too short.
      leaseDurationSeconds: Math.ceil(claim.durationMs / 1000),
      acquireTime: isRenewal ? (spec.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + (isRenewal || lease === undefined ? 0 : 1),
    },
  };
}

/** The lease as its holder leaves it, for the next one to take at once. */
export function released(lease: Lease, nowMs: number): Lease {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: formatMicroTime(nowMs) };
  return { ...lease, spec };
}
