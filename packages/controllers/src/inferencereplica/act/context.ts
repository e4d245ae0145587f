/** What the carrying out of effects has at hand, for one pass of one replica. */
import type { DecodedStatus } from '@omenative/api';
import type { Client, Informer, Runtime } from '@omenative/kube';
import type { Caches } from '../../caches.js';
import type { Observation } from '../observe.js';
import type { OwnWrites } from '../own-writes.js';
import type { ReplicaRecord } from '../replica-record.js';
import type { UnroutedGuard } from './unrouted.js';

export interface ActContext {
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly caches: Pick<Caches, 'pods' | 'services' | 'revisions' | 'replicas'>;
  readonly ownWrites: OwnWrites;
  /** What the plan was made from. */
  readonly observation: Observation;
  /** The replica as it was when the plan's status was persisted, or found to need no write. */
  readonly replica: ReplicaRecord;
  /** The status that covers the effects: what is persisted now. */
  readonly persisted: DecodedStatus;
  readonly guard: UnroutedGuard;
}

/** Every kind of informer takes replies in the same way. */
export type TakesIn = Pick<Informer<unknown>, 'takeIn' | 'takeInDeletion'>;
