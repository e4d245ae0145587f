/**
 * Which stored revision is the spec's own. A store that another version, another recipe or another salt has filled is read by
 * meaning, and what says the same as the spec keeps its name: the name that pods and rows carry is the identity, and minting
 * another one would roll the fleet for nothing.
 */
import type { DecodedStatus, Rev } from '@omenative/api';
import { type PlanSpec, type StoredRevision, specRevisionName } from '@omenative/engine';
import type { PodRecord } from './pod-view.js';
import { type RevisionRecord, samePayload } from './revision-object.js';

/** The revisions by name, what their writer left out about workers filled in from what the pods and the spec say. */
export function storedRevisions(
  records: readonly RevisionRecord[],
  pods: readonly PodRecord[],
  status: DecodedStatus,
  spec: PlanSpec,
): ReadonlyMap<Rev, StoredRevision> {
  const stored = new Map<Rev, StoredRevision>();
  for (const { revision, workers } of records) {
    if (revision === undefined) continue;
    stored.set(revision.name, workers === 'asStored' ? revision : withWorkers(revision, pods, status, spec));
  }
  return stored;
}

/**
 * The name of the stored revision that says what the spec says; undefined when there is none. Of several the one that most
 * Instances run is taken, so that the fewest have to move; then the one that the status names, then the newest.
 */
export function storedTwin(
  spec: PlanSpec,
  status: DecodedStatus,
  stored: ReadonlyMap<Rev, StoredRevision>,
): Rev | undefined {
  const twins = [...stored.values()].filter((revision) => samePayload(revision.payload, spec.payload));
  if (twins.length <= 1) return twins[0]?.name;
  const running = new Map<Rev | '', number>();
  for (const row of status.rows.values()) running.set(row.running, (running.get(row.running) ?? 0) + 1);
  const ownName = specRevisionName(spec, status.collisionCount);
  const named = [ownName, status.current, status.update];
  return twins.toSorted(
    (a, b) =>
      (running.get(b.name) ?? 0) - (running.get(a.name) ?? 0) ||
      named.lastIndexOf(b.name) - named.lastIndexOf(a.name) ||
      b.number - a.number,
  )[0]?.name;
}

/**
 * The revision with as many workers as its pods were made for, and with the metadata that the spec gives them. Pods of the
 * wanted size settle it. While there is none of either, a revision that was taken for the spec's before stays so, and any
 * other is left as it is: nothing runs that could be spared.
 */
function withWorkers(
  revision: StoredRevision,
  pods: readonly PodRecord[],
  status: DecodedStatus,
  spec: PlanSpec,
): StoredRevision {
  const wanted = spec.payload.runners.find((runner) => runner.name === 'worker');
  if (wanted === undefined) return revision;
  const sizes = pods
    .filter(({ view, instanceSize }) => view.revisionHash === revision.hash && instanceSize !== undefined)
    .map(({ instanceSize = 0 }) => instanceSize - 1);
  const isAdopted = sizes.length === 0 && status.update === revision.name;
  if (sizes.length === 0 && !isAdopted) return revision;
  const size = isAdopted || sizes.includes(wanted.size) ? wanted.size : Math.max(1, ...sizes);
  const runners = revision.payload.runners.map((runner) =>
    runner.name === 'worker' ? { ...runner, size, template: withMetadataOf(wanted.template, runner.template) } : runner,
  );
  return { ...revision, payload: { ...revision.payload, runners } };
}

function withMetadataOf(wanted: unknown, stored: unknown): unknown {
  const { metadata } = wanted as { readonly metadata?: unknown };
  const { spec } = stored as { readonly spec?: unknown };
  return { ...(metadata === undefined ? {} : { metadata }), spec };
}
