/**
 * Which labels and annotations of a template belong to its revision. What steers a rollout or a queue must not roll the
 * fleet when it changes; what is only about this replica must not reach a pod.
 */
import { annotation } from '@omenative/api';

export interface TemplateMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Labels that pods carry but that are not part of a revision: pods follow the template of the day. */
const unhashedLabels: ReadonlySet<string> = new Set(['kueue.x-k8s.io/queue-name', 'kueue.x-k8s.io/priority-class']);

/** Annotations that speak to a controller about the whole component; a pod never carries them. */
const replicaOnly: ReadonlySet<string> = new Set([
  annotation.inPlaceTransition,
  annotation.rolloutPaused,
  annotation.revisionHistoryLimit,
  annotation.controllerWrite,
  annotation.parentGeneration,
  annotation.excludedAnnotationKeys,
  annotation.resetInstances,
  annotation.releaseHeldRevision,
  'ome.io/rollout-promote',
  'ome.io/rollout-rollback',
  'ome.io/rollout-repin',
  'ome.io/rollout-ready-timeout',
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** The keys named by the replica's `ome.io/revision-excluded-annotation-keys`. */
export function excludedKeysOf(replicaAnnotations: Readonly<Record<string, string>>): ReadonlySet<string> {
  const listed = replicaAnnotations[annotation.excludedAnnotationKeys] ?? '';
  return new Set(
    listed
      .split(',')
      .map((key) => key.trim())
      .filter((key) => key !== ''),
  );
}

/** Splits a template's metadata into what its revision stores and what pods take from the template of the day. */
export function splitMetadata(
  metadata: TemplateMetadata,
  excludedAnnotations: ReadonlySet<string>,
): { readonly hashed: TemplateMetadata; readonly live: TemplateMetadata } {
  const annotations = filterKeys(metadata.annotations, isForPods);
  return {
    hashed: {
      labels: filterKeys(metadata.labels, (key) => !unhashedLabels.has(key)),
      annotations: filterKeys(annotations, (key) => !excludedAnnotations.has(key)),
    },
    live: {
      labels: filterKeys(metadata.labels, (key) => unhashedLabels.has(key)),
      annotations: filterKeys(annotations, (key) => excludedAnnotations.has(key)),
    },
  };
}

/** Whether a pod may carry this annotation. */
export function isForPods(annotationKey: string): boolean {
  return !replicaOnly.has(annotationKey) && !annotationKey.startsWith(annotation.migrationRequestPrefix);
}

export function filterKeys(
  map: Readonly<Record<string, string>>,
  isKept: (key: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => isKept(key)));
}
