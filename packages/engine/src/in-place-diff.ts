/**
 * Whether an update can be made inside a running pod: Kubernetes lets the images of regular containers change and nothing
 * else, so the templates may differ in those and in metadata. What is compared are stored revisions, never the live pod,
 * into which webhooks and autoscalers write.
 */
import { canonicalJson, mainContainerName } from '@omenative/api';
import { revisionContent } from './revision.js';
import type { RevisionPayload } from './snapshot.js';
import { meaningOfPodSpec } from './template-meaning.js';

/** What of a pod has to change. */
export interface InPlaceDiff {
  /** Containers whose image differs, with the new one. */
  readonly images: Readonly<Record<string, string>>;
  /** Keys of the new template, and null for those that the old one had alone. Keys of others are not touched. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The protocol of the new revision; '' when it has none. */
  readonly pairingProtocol: string;
}

interface ContainerShape {
  readonly name?: string;
  readonly image?: string;
}

interface SpecShape {
  readonly containers?: readonly ContainerShape[];
}

/** All Instances of a rollout ask for the same few pairs; payloads live as long as the cache keeps their revision. */
const known: WeakMap<RevisionPayload, WeakMap<RevisionPayload, { readonly diff?: InPlaceDiff }>> = new WeakMap();

/** The change from one revision to the other; undefined when a running pod can't follow it. */
export function inPlaceDiff(from: RevisionPayload, to: RevisionPayload): InPlaceDiff | undefined {
  let changes = known.get(from);
  if (changes === undefined) {
    changes = new WeakMap();
    known.set(from, changes);
  }
  let found = changes.get(to);
  if (found === undefined) {
    const diff = differenceOf(from, to);
    found = diff === undefined ? {} : { diff };
    changes.set(to, found);
  }
  return found.diff;
}

function differenceOf(from: RevisionPayload, to: RevisionPayload): InPlaceDiff | undefined {
  if (!isSinglePod(from) || !isSinglePod(to)) return undefined;
  const [old, next] = [revisionContent(from), revisionContent(to)];
  const [oldSpec, nextSpec] = [old.podSpec as SpecShape, next.podSpec as SpecShape];
  // What an API server filled in, or another writer spelled otherwise, is no change. An image decides what its container's
  // pull policy says when it says nothing, so the images are blanked last.
  if (withoutImages(oldSpec) !== withoutImages(nextSpec)) return undefined;
  const images: Record<string, string> = {};
  nextSpec.containers?.forEach((container, at) => {
    const image = container.image ?? '';
    if (image !== oldSpec.containers?.[at]?.image) images[container.name || mainContainerName] = image;
  });
  // An image that is taken away can't be patched in.
  if (Object.values(images).includes('')) return undefined;
  const [oldKeys, nextKeys] = [old.podMeta?.annotations ?? {}, next.podMeta?.annotations ?? {}];
  const dropped = Object.keys(oldKeys).filter((key) => !(key in nextKeys));
  return {
    images,
    annotations: { ...nextKeys, ...Object.fromEntries(dropped.map((key) => [key, null])) },
    pairingProtocol: next.pairingProtocol ?? '',
  };
}

function isSinglePod(payload: RevisionPayload): boolean {
  return payload.runners.length === 1 && payload.runners[0]?.name === 'default';
}

function withoutImages(spec: SpecShape): string {
  const { containers = [], ...others } = meaningOfPodSpec(spec) as SpecShape;
  return canonicalJson({ ...others, containers: containers.map((container) => ({ ...container, image: '' })) });
}
