/** Recent Warning Events: what the manager has met and keeps in memory only, such as a refusal of the API server. */
import { parseTime } from '@omenative/api';
import { asInteger, asRecord, asText, type JsonRecord } from '@omenative/controllers/observe';
import { classify, events } from '@omenative/kube';
import { type Reach, refusal } from '../cluster/look.js';
import type { Remark } from '../cluster/problem.js';

export interface EventReport {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** RFC 3339, of the last one. */
  readonly at: string;
}

/** Seconds back. */
const recentSec = 3600;
/** Kept, the newest. */
const maxEvents = 10;

export interface RecentEvents {
  readonly events: readonly EventReport[];
  readonly remarks: readonly Remark[];
}

/** Warnings about the objects with these UIDs within the last hour, the newest first. */
export async function recentEvents(reach: Reach, uids: ReadonlySet<string>, nowMs: number): Promise<RecentEvents> {
  const found: JsonRecord[] = [];
  try {
    let continueToken: string | undefined;
    do {
      const from = continueToken === undefined ? {} : { continueToken };
      const page = await reach.client.list(events, { namespace: reach.namespace, limit: 500, ...from });
      found.push(...page.items.map(asRecord));
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  } catch (error) {
    if (classify(error) !== 'notPermitted' && classify(error) !== 'forbidden') throw refusal(error);
    const message = 'events may not be listed: what the manager has told of lately is not shown';
    return { events: [], remarks: [{ code: 'EventsUnreadable', message }] };
  }
  const since = nowMs / 1000 - recentSec;
  const recent = found
    .filter((event) => event['type'] === 'Warning' && uids.has(asText(asRecord(event['involvedObject'])['uid'])))
    .map((event) => ({
      reason: asText(event['reason']),
      message: asText(event['message']),
      count: asInteger(event['count']) ?? 1,
      at: asText(event['lastTimestamp']) || asText(event['firstTimestamp']) || asText(event['eventTime']),
    }))
    .filter(({ at }) => (parseTime(at) ?? 0) >= since)
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return { events: recent.slice(0, maxEvents), remarks: [] };
}
