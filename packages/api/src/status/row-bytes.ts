/**
 * How large a row is, counted member by member rather than written out: a budget of bytes is looked at in every pass, and
 * after a write all rows of a replica are new objects, so that nothing remembered of them would last.
 */
import { instanceRow } from '../crds/instance-status.js';
import { integerBytes, jsonBytes, textBytes, timeBytes } from './json-bytes.js';
import { fieldNameBytes, fieldSetBytes, rowNameBytes } from './managed-fields.js';
import { type AnyOperation, encodeOperationOf, operationOf } from './operation.js';
import { encodeCondition, encodeTermination } from './records.js';
import { type InstanceRow, type Json, phaseOf } from './rows.js';
import { isEmpty } from './wire.js';

/** Bytes of one row as JSON, without the comma that separates it from the next. */
export interface RowBytes {
  /** As an item of `instanceStatuses`. */
  readonly dense: number;
  /** As an item of `instanceStatusColumns.entries`; 0 when columns say all of it. Its part of the columns is not in it. */
  readonly entry: number;
  /**
   * What the API server notes down of a dense row's fields in `managedFields`, the comma before it included. As columns,
   * whose lists are replaced whole, rows add nothing.
   */
  readonly managed: number;
}

/** Adds up the members of one JSON object, and the names of its fields in a field set. */
class Tally {
  json = 0;
  fields = 0;

  /** A member of `bytes` that has no fields of its own. */
  leaf(name: string, bytes: number): void {
    this.json += name.length + 4 + bytes; // ,"name":
    this.fields += fieldNameBytes(name) + 2; // {}
  }

  /** A member that is worth writing out. */
  written(name: string, value: Json): void {
    this.json += name.length + 4 + jsonBytes(value);
    const schema = instanceRow.properties?.[name];
    if (schema !== undefined) this.fields += fieldNameBytes(name) + fieldSetBytes(value, schema);
  }

  /** A member with the members of `inner`. */
  object(name: string, inner: Tally): void {
    this.json += name.length + 4 + inner.json + 1; // {}, and one comma less than members
    this.fields += fieldNameBytes(name) + inner.fields + 8; // {".":{}}
  }
}

/** Exact, but for what `managedFields` says of values that are out of the ordinary. */
export function rowBytes(row: InstanceRow): RowBytes {
  const grouped = tallyOfGrouped(row);
  const records = tallyOfRecords(row);
  const index = `"index":`.length + integerBytes(row.index);
  return {
    dense: index + grouped.json + records.json + 2,
    entry: records.json === 0 ? 0 : index + records.json + 2,
    managed: rowNameBytes(row.index) + fieldNameBytes('index') + 2 + grouped.fields + records.fields + 8,
  };
}

/** All members that columns group but the index. */
function tallyOfGrouped(row: InstanceRow): Tally {
  const tally = new Tally();
  const { published } = row;
  tally.leaf('phase', phaseOf(row).length + 2);
  if (row.incarnation !== 0) tally.leaf('incarnation', integerBytes(row.incarnation));
  if (row.running !== '') tally.leaf('runningRevision', textBytes(row.running));
  if (row.target !== '') tally.leaf('targetRevision', textBytes(row.target));
  if (published.pods !== 0) tally.leaf('podCount', integerBytes(published.pods));
  if (published.serving !== 0) tally.leaf('servingPodCount', integerBytes(published.serving));
  if (published.available !== 0) tally.leaf('availablePodCount', integerBytes(published.available));
  if (published.admitted) tally.leaf('admitted', 'true'.length);
  if (row.activeOrdinal !== 0) tally.leaf('activeOrdinal', 1);
  return tally;
}

function tallyOfRecords(row: InstanceRow): Tally {
  const tally = new Tally();
  if (row.conditions.length > 0) tally.written('conditions', row.conditions.map(encodeCondition));
  if (row.readySince !== undefined) tally.leaf('readySince', timeBytes);
  const operation = operationOf(row);
  if (operation !== undefined && isEmpty(operation.carry)) tally.object('operation', tallyOfOperation(operation));
  else {
    const written = encodeOperationOf(row);
    if (written !== undefined) tally.written('operation', written);
  }
  if (row.lastFailure !== undefined) tally.written('lastFailure', encodeTermination(row.lastFailure));
  if (row.announced.length > 0) tally.written('announced', row.announced);
  if (!isEmpty(row.carry)) tally.json += jsonBytes(row.carry) - 1; // its braces, for a comma
  return tally;
}

function tallyOfOperation(op: AnyOperation): Tally {
  const tally = new Tally();
  tally.leaf('id', textBytes(op.id));
  tally.leaf('type', op.type.length + 2);
  tally.leaf('step', op.step.length + 2);
  if (op.startedAt !== undefined) tally.leaf('startedAt', timeBytes);
  if (op.lastProgressAt !== undefined) tally.leaf('lastProgressAt', timeBytes);
  if (op.deadline !== undefined) tally.leaf('deadline', timeBytes);
  if (op.retryCount !== 0) tally.leaf('retryCount', integerBytes(op.retryCount));
  if (op.target !== '') tally.leaf('targetRevision', textBytes(op.target));
  if (op.reason !== '') tally.leaf('reason', textBytes(op.reason));
  if (op.waiting !== '') tally.leaf('waiting', textBytes(op.waiting));
  if (op.capacityRefusedAt !== undefined) tally.leaf('capacityRefusedAt', timeBytes);
  if (op.strategy !== undefined) tally.leaf('strategy', op.strategy.length + 2);
  if (op.surgeIndex !== undefined) tally.leaf('surgeIndex', integerBytes(op.surgeIndex));
  if (op.requestUUID !== undefined) tally.leaf('requestUUID', textBytes(op.requestUUID));
  return tally;
}
