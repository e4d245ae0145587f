/**
 * Pods that a row has sentenced: deleting one of them is not derivable from the rest of the state (each time it costs an
 * attempt, or a user asked for it once), so it is booked on the row, by the pod's UID, in the write before the deletion.
 */
import type { InstanceRow } from '@omenative/api';
import type { PodView } from './snapshot.js';

export type BookingReason =
  /** It has ended and its name is needed. */
  | 'TerminalPodRecycled'
  /** An earlier attempt at the same slot left it, and a new attempt takes the slot over. */
  | 'LeftoverEvicted'
  /** A user reset the Instance. */
  | 'InstanceReset';

const reasons: readonly BookingReason[] = ['TerminalPodRecycled', 'LeftoverEvicted', 'InstanceReset'];

export function bookingOf(reason: BookingReason, pod: PodView): string {
  return `${reason}@${pod.uid}`;
}

export function isBooked(row: InstanceRow, pod: PodView, reason?: BookingReason): boolean {
  return (reason === undefined ? reasons : [reason]).some((one) => row.announced.includes(bookingOf(one, pod)));
}

/** `announced` with a booking for each pod. */
export function booked(row: InstanceRow, reason: BookingReason, pods: readonly PodView[]): readonly string[] {
  const fresh = pods.filter((pod) => !isBooked(row, pod, reason)).map((pod) => bookingOf(reason, pod));
  return fresh.length === 0 ? row.announced : [...row.announced, ...fresh];
}

/** Bookings of pods that are gone are of no more use. `pods` are all that the row may have booked. */
export function withoutSpentBookings(row: InstanceRow, pods: readonly PodView[]): InstanceRow {
  const live = new Set(pods.flatMap((pod) => reasons.map((reason) => bookingOf(reason, pod))));
  const kept = row.announced.filter(
    (entry) => live.has(entry) || !reasons.some((reason) => entry.startsWith(`${reason}@`)),
  );
  return kept.length === row.announced.length ? row : { ...row, announced: kept };
}
