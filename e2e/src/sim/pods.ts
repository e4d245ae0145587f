/** What a pod of the simulated cluster says of itself, and which Instances serve. */
import { label } from '@omenative/api';
import type { KubeObject } from '@omenative/sim';

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly containerStatuses?: readonly { readonly name: string; readonly image: string }[];
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly {
    readonly name: string;
    readonly image?: string;
    readonly env?: readonly { readonly name: string; readonly value?: string }[];
  }[];
}

function statusOf(pod: KubeObject): PodStatus {
  return pod['status'] ?? {};
}

function specOf(pod: KubeObject): PodSpec {
  return pod['spec'] ?? {};
}

/** `True`, `False`, `Unknown`, or '' when the pod has no such condition. */
export function condition(pod: KubeObject, type: string): string {
  return statusOf(pod).conditions?.find((item) => item.type === type)?.status ?? '';
}

/** Neither ended nor being deleted. */
export function isLive(pod: KubeObject): boolean {
  const { phase } = statusOf(pod);
  return pod.metadata.deletionTimestamp === undefined && phase !== 'Failed' && phase !== 'Succeeded';
}

export function isGateOpen(pod: KubeObject): boolean {
  return condition(pod, 'ome.io/serving') === 'True';
}

export function isReady(pod: KubeObject): boolean {
  return condition(pod, 'Ready') === 'True';
}

export function isServing(pod: KubeObject): boolean {
  return isLive(pod) && isReady(pod);
}

/** Serving, and meant to: its gate is open. */
export function isInRotation(pod: KubeObject): boolean {
  return isServing(pod) && isGateOpen(pod);
}

/** The name of the replica that controls the pod; '' when none does. */
export function ownerOf(pod: KubeObject): string {
  return pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.name ?? '';
}

export function indexOf(pod: KubeObject): number {
  return Number(pod.metadata.labels?.[label.instanceIndex]);
}

/** The node, '' before it has one. */
export function nodeOf(pod: KubeObject): string {
  return specOf(pod).nodeName ?? '';
}

export function isGangMember(pod: KubeObject): boolean {
  return pod.metadata.labels?.[label.runner] !== 'default';
}

/** Which life of its Instance a pod belongs to. Of a single pod both names live side by side in a surge. */
export function lifeOf(pod: KubeObject): string {
  const { labels = {} } = pod.metadata;
  const slot = isGangMember(pod) ? 'gang' : labels[label.podOrdinal];
  return `${labels[label.incarnation]}/${slot}/${labels[label.revisionHash]}`;
}

/** How many pods the Instance of this one has, by its own word. */
function sizeOf(pod: KubeObject): number {
  const env = specOf(pod).containers?.flatMap((container) => container.env ?? []) ?? [];
  return Number(env.find(({ name }) => name === 'OME_INSTANCE_POD_COUNT')?.value ?? 1);
}

/** An image that a container runs, by its kubelet's word, and that is not the one it should run. */
export function notRunning(pod: KubeObject): string | undefined {
  const wanted = new Map(specOf(pod).containers?.map(({ name, image }) => [name, image]));
  const images = statusOf(pod).containerStatuses?.map(({ name, image }) => ({ image, wanted: wanted.get(name) ?? '' }));
  return images?.find((one) => shortImage(one.image) !== shortImage(one.wanted))?.image;
}

/** Kubelets write the names of images in full. */
function shortImage(image: string): string {
  return image.replace(/^docker\.io\/(library\/)?/, '').replace(/:latest$/, '');
}

/** The indices of the Instances that serve: all pods of one of their lives are in rotation. */
export function servingIndices(pods: readonly KubeObject[]): ReadonlySet<number> {
  const lives = new Map<string, KubeObject[]>();
  for (const pod of pods.filter(isInRotation)) {
    const life = `${indexOf(pod)} ${lifeOf(pod)}`;
    lives.set(life, [...(lives.get(life) ?? []), pod]);
  }
  const serving = [...lives.values()].filter((life) => life[0] !== undefined && life.length === sizeOf(life[0]));
  return new Set(serving.flatMap(([pod]) => (pod === undefined ? [] : [indexOf(pod)])));
}
