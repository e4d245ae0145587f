/** A status without its rows, written: what an encoding of rows is added to. */
import { encodeCondition, encodeMigration, encodeRetryBlock, encodeRolloutHold } from './records.js';
import type { DecodedStatus } from './rows.js';
import { type WireObject, withCarry } from './wire.js';

/**
 * The wire form of everything but the rows. The six counters are always written, zero too, so that no printer column is
 * blank.
 * @throws RangeError when a time lies outside the years 0000 to 9999.
 */
export function encodeHead(status: DecodedStatus): WireObject {
  const { counters } = status;
  const wire: WireObject = {
    replicas: counters.replicas,
    readyReplicas: counters.ready,
    servingReplicas: counters.serving,
    availableReplicas: counters.available,
    updatedReplicas: counters.updated,
    updatedReadyReplicas: counters.updatedReady,
  };
  if (status.observedGeneration !== 0) wire['observedGeneration'] = status.observedGeneration;
  if (status.current !== '') wire['currentRevision'] = status.current;
  if (status.update !== '') wire['updateRevision'] = status.update;
  if (status.collisionCount !== 0) wire['collisionCount'] = status.collisionCount;
  if (status.labelSelector !== '') wire['labelSelector'] = status.labelSelector;
  if (status.blocks.length > 0) wire['retryBlocks'] = status.blocks.map(encodeRetryBlock);
  if (status.migrations.length > 0) wire['migrations'] = status.migrations.map(encodeMigration);
  if (status.conditions.length > 0) wire['conditions'] = status.conditions.map(encodeCondition);
  if (status.rolloutHold !== undefined) wire['rolloutHold'] = encodeRolloutHold(status.rolloutHold);
  return withCarry(wire, status.carry);
}
