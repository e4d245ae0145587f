/**
 * Revision identity: what of a template makes a revision, and its hash. The input is the template as the user wrote it,
 * without any defaulting of ours and without any UID, so that neither an upgrade nor a restored backup rolls a fleet. The hash
 * only names what is new: a stored revision that says the same keeps the name it has, whoever gave it.
 */
import { type Component, canonicalJson, controllerRevisionName, type Rev, shortHash } from '@omenative/api';
import type { PlanSpec, RevisionPayload } from './snapshot.js';

/** What a ControllerRevision's `data` holds and what the hash is made of. */
export interface RevisionContent {
  readonly podSpec: unknown;
  readonly podMeta: PodMeta | null;
  readonly workerPodSpec?: unknown;
  /** Only when it differs from `podMeta`. */
  readonly workerPodMeta?: PodMeta | null;
  /** Only with a worker: a gang of another size is another revision, or every Instance would "lose a member" at once. */
  readonly workerSize?: number;
  readonly topologyKey?: string;
  readonly pairingProtocol?: string;
}

export interface PodMeta {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface TemplateShape {
  readonly metadata?: PodMeta | null;
  readonly spec?: unknown;
}

/** Null, `{}` and nothing say the same: a client that writes `metadata: {creationTimestamp: null}` changes no template. */
function metaOf(shape: TemplateShape | undefined): PodMeta | null {
  const { labels, annotations } = shape?.metadata ?? {};
  const meta = {
    ...(isEmpty(labels) ? {} : { labels }),
    ...(isEmpty(annotations) ? {} : { annotations }),
  };
  return isEmpty(meta) ? null : meta;
}

function isEmpty(map: object | null | undefined): map is null | undefined {
  return map === undefined || map === null || Object.keys(map).length === 0;
}

/** The identity of a payload. The first runner (`default` or `leader`) gives the metadata of all pods. */
export function revisionContent(payload: RevisionPayload): RevisionContent {
  const first = payload.runners[0]?.template as TemplateShape | undefined;
  const worker = payload.runners.find((runner) => runner.name === 'worker');
  const podMeta = metaOf(first);
  const workerMeta = metaOf(worker?.template as TemplateShape | undefined);
  return {
    podSpec: first?.spec ?? {},
    podMeta,
    ...(worker === undefined
      ? {}
      : { workerPodSpec: (worker.template as TemplateShape).spec ?? {}, workerSize: worker.size }),
    ...(worker === undefined || canonicalJson(workerMeta) === canonicalJson(podMeta)
      ? {}
      : { workerPodMeta: workerMeta }),
    ...(worker !== undefined && payload.topologyKey !== undefined && payload.topologyKey !== ''
      ? { topologyKey: payload.topologyKey }
      : {}),
    ...(payload.pairingProtocol === undefined || payload.pairingProtocol === ''
      ? {}
      : { pairingProtocol: payload.pairingProtocol }),
  };
}

function template(spec: unknown, meta: PodMeta | null): TemplateShape {
  return { ...(meta === null ? {} : { metadata: meta }), spec };
}

/** The payload that a stored content describes. */
export function payloadOf(content: RevisionContent): RevisionPayload {
  const extras = {
    ...(content.topologyKey === undefined ? {} : { topologyKey: content.topologyKey }),
    ...(content.pairingProtocol === undefined ? {} : { pairingProtocol: content.pairingProtocol }),
  };
  if (content.workerPodSpec === undefined) {
    return { runners: [{ name: 'default', size: 1, template: template(content.podSpec, content.podMeta) }], ...extras };
  }
  return {
    runners: [
      { name: 'leader', size: 1, template: template(content.podSpec, content.podMeta) },
      {
        name: 'worker',
        size: content.workerSize ?? 1,
        template: template(
          content.workerPodSpec,
          content.workerPodMeta === undefined ? content.podMeta : content.workerPodMeta,
        ),
      },
    ],
    ...extras,
  };
}

/**
 * 8 hexadecimal digits. `collisionCount` salts the hash after two different contents met under one name.
 * The leading `v1` is the version of this recipe: a new recipe must adopt old revisions by meaning, never re-hash them.
 */
export function revisionHash(payload: RevisionPayload, collisionCount: number): string {
  return shortHash(`v1|${canonicalJson(revisionContent(payload))}|cc=${collisionCount}|`);
}

/** The ControllerRevision name of a payload. */
export function revisionName(
  owner: string,
  component: Component,
  payload: RevisionPayload,
  collisionCount: number,
): Rev {
  return controllerRevisionName(owner, component, revisionHash(payload, collisionCount));
}

/** The name of the revision that `spec` as written asks for. */
export function specRevisionName(spec: PlanSpec, collisionCount: number): Rev {
  return revisionName(spec.owner, spec.component, spec.payload, collisionCount);
}
