/** What holds an Instance's attempt from outside right now. A pause comes first: it is the user's own word. */
import type { Parking } from '../clock.js';
import type { Snapshot } from '../snapshot.js';
import { isLive, type Unit } from '../units.js';

export function parkingOf(snapshot: Snapshot, unit: Unit): Parking {
  if (snapshot.spec.pause !== 'running') return 'Paused';
  return unit.pods.some((pod) => pod.gated && isLive(pod)) ? 'AdmissionGated' : 'running';
}
