/**
 * How far a cache must have read before we may believe it about something we wrote: reading our own writes, without
 * waiting for them.
 *
 * A floor is kept for each resource type and unit, where a unit is what is decided on as one. A unit that lies above the
 * position of the type's stream is blind.
 */
import { isNewer, newest } from './resource-version.js';
import type { Runtime } from './runtime.js';

/** A unit that has been blind for longer than it should. */
export interface OverdueFloor {
  /** `unreached`: the stream should be started again at this version. `unknown`: a live read should settle it. */
  readonly why: 'unreached' | 'unknown';
  readonly type: string;
  readonly unit: string;
  /** Empty for `unknown` without a floor. */
  readonly resourceVersion: string;
  /** Milliseconds for which it has been blind. */
  readonly ageMs: number;
}

interface Floor {
  resourceVersion: string;
  /** Whether a write went without an answer. */
  unknown: boolean;
  sinceMs: number;
}

/** A floor that the stream does not reach in this time is overdue. */
const patienceMs = 10_000;

export class Floors {
  readonly #runtime: Runtime;
  /** By unit, then by type: units are forgotten whole. */
  readonly #units: Map<string, Map<string, Floor>> = new Map();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A write of ours on behalf of `unit` was answered with this version. */
  raise(type: string, unit: string, resourceVersion: string): void {
    const floor = this.#floorOf(type, unit);
    if (!isNewer(resourceVersion, floor.resourceVersion)) return;
    floor.resourceVersion = newest(floor.resourceVersion, resourceVersion);
    floor.sinceMs = this.#runtime.monotonicMs();
  }

  /** A write of ours on behalf of `unit` went without an answer: nothing is known until a live read. */
  markUnknown(type: string, unit: string): void {
    const floor = this.#floorOf(type, unit);
    if (floor.unknown) return;
    floor.unknown = true;
    floor.sinceMs = this.#runtime.monotonicMs();
  }

  /** A live read has settled what an unanswered write left open. Floors from answered writes stay. */
  clearUnknown(type: string, unit: string): void {
    const floor = this.#units.get(unit)?.get(type);
    if (floor === undefined) return;
    floor.unknown = false;
    this.#dropIfReached(type, unit, floor, '');
  }

  /** Whether the cache, whose stream of `type` is at `position`, may not be believed about `unit`. */
  isBlind(type: string, unit: string, position: string): boolean {
    const floor = this.#units.get(unit)?.get(type);
    if (floor === undefined) return false;
    this.#dropIfReached(type, unit, floor, position);
    return floor.unknown || isNewer(floor.resourceVersion, position);
  }

  /** The version that the stream of `type` has to reach for `unit`; undefined when there is none. */
  floor(type: string, unit: string): string | undefined {
    const version = this.#units.get(unit)?.get(type)?.resourceVersion;
    return version === '' ? undefined : version;
  }

  /** Whether a write of `type` for `unit` went without an answer that nothing has settled yet. */
  isUnknown(type: string, unit: string): boolean {
    return this.#units.get(unit)?.get(type)?.unknown ?? false;
  }

  /** Blind units beyond patience. `positions`: where the stream of each type is. */
  overdue(positions: Readonly<Record<string, string>>): readonly OverdueFloor[] {
    const nowMs = this.#runtime.monotonicMs();
    const found: OverdueFloor[] = [];
    for (const [type, unit, floor] of this.#blind(positions)) {
      const ageMs = nowMs - floor.sinceMs;
      if (ageMs < patienceMs) continue;
      found.push({
        why: floor.unknown ? 'unknown' : 'unreached',
        type,
        unit,
        resourceVersion: floor.resourceVersion,
        ageMs,
      });
    }
    return found;
  }

  /** Milliseconds for which the longest blind unit has been so; undefined when none is. */
  oldestMs(positions: Readonly<Record<string, string>>): number | undefined {
    let oldestMs: number | undefined;
    for (const [, , floor] of this.#blind(positions)) {
      const ageMs = this.#runtime.monotonicMs() - floor.sinceMs;
      if (oldestMs === undefined || ageMs > oldestMs) oldestMs = ageMs;
    }
    return oldestMs;
  }

  /** The unit is no more. */
  forget(unit: string): void {
    this.#units.delete(unit);
  }

  #blind(positions: Readonly<Record<string, string>>): (readonly [string, string, Floor])[] {
    const blind: (readonly [string, string, Floor])[] = [];
    for (const [unit, floors] of this.#units) {
      for (const [type, floor] of floors) {
        if (this.isBlind(type, unit, positions[type] ?? '')) blind.push([type, unit, floor]);
      }
    }
    return blind;
  }

  #floorOf(type: string, unit: string): Floor {
    let floors = this.#units.get(unit);
    if (floors === undefined) {
      floors = new Map();
      this.#units.set(unit, floors);
    }
    let floor = floors.get(type);
    if (floor === undefined) {
      floor = { resourceVersion: '', unknown: false, sinceMs: this.#runtime.monotonicMs() };
      floors.set(type, floor);
    }
    return floor;
  }

  /** A floor that holds nothing back takes no memory. */
  #dropIfReached(type: string, unit: string, floor: Floor, position: string): void {
    if (floor.unknown || isNewer(floor.resourceVersion, position)) return;
    const floors = this.#units.get(unit);
    floors?.delete(type);
    if (floors?.size === 0) this.#units.delete(unit);
  }
}
