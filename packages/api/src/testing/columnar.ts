/** The columnar form of a dense wire status: a plain writer to test the strict reader against. */
import { printIndexSet } from '../status/index-set.js';

type WireObject = Readonly<Record<string, unknown>>;

const entryKeys = ['conditions', 'readySince', 'operation', 'lastFailure', 'announced'];

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * `status` with its dense rows as columns. Every row must have members that columns can say: an index of 0 or more, counts of
 * 0 or more, no member of its own that is unknown. A status without rows is returned as it is: columns can't say it.
 */
export function columnarWire(status: WireObject): WireObject {
  const { instanceStatuses, ...rest } = status;
  const rows = (instanceStatuses ?? []) as readonly WireObject[];
  if (rows.length === 0) return status;

  const order = rows.map((row) => Number(row['index']));
  const ascending = rows.toSorted((a, b) => Number(a['index']) - Number(b['index']));
  const indexesWith = (matches: (row: WireObject) => boolean): string =>
    printIndexSet(rows.filter(matches).map((row) => Number(row['index'])));
  const texts = (key: string): unknown[] =>
    [...new Set(rows.map((row) => row[key]))]
      .filter((value): value is string => typeof value === 'string' && value !== '')
      .toSorted(compareBytes)
      .map((value) => ({ value, indexes: indexesWith((row) => row[key] === value) }));
  const numbers = (key: string): unknown[] =>
    [...new Set(rows.map((row) => row[key]))]
      .filter((value): value is number => typeof value === 'number' && value !== 0)
      .toSorted((a, b) => a - b)
      .map((value) => ({ value, indexes: indexesWith((row) => row[key] === value) }));
  const entries = ascending.flatMap((row) => {
    const records = entryKeys.filter((key) => row[key] !== undefined).map((key) => [key, row[key]]);
    return records.length === 0 ? [] : [{ index: row['index'], ...Object.fromEntries(records) }];
  });

  const columns: Record<string, unknown> = {
    members: printIndexSet(order),
    rowOrder: order.every((index, at) => index === ascending[at]?.['index']) ? [] : order,
    phases: texts('phase'),
    runningRevisions: texts('runningRevision'),
    targetRevisions: texts('targetRevision'),
    incarnations: numbers('incarnation'),
    podCounts: numbers('podCount'),
    servingPodCounts: numbers('servingPodCount'),
    availablePodCounts: numbers('availablePodCount'),
    admitted: indexesWith((row) => row['admitted'] === true),
    activeOrdinalOne: indexesWith((row) => row['activeOrdinal'] === 1),
    entries,
  };
  const filled = Object.entries(columns).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== '',
  );
  return { ...rest, instanceStatusEncoding: 'ColumnarV2', instanceStatusColumns: Object.fromEntries(filled) };
}
