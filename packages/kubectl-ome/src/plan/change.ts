/** A change that somebody thinks of making, and what the API server says it would make of the object. */
import { asRecord, asText, type JsonRecord } from '@omenative/controllers/observe';
import { classify, type KubeObject, type Patch, type ResourceType } from '@omenative/kube';
import { type Reach, refusal } from '../cluster/look.js';
import { Problem } from '../cluster/problem.js';
import { type Target, typeOf } from '../cluster/target.js';
import { applyPatch } from './merge-patch.js';

export type Change =
  | { readonly as: 'patch'; readonly target: Target; readonly patch: Patch }
  | {
      readonly as: 'apply';
      readonly target: Target;
      /** Absent: that of the connection. */
      readonly namespace?: string;
      /** The manifest. */
      readonly object: JsonRecord;
      readonly by: 'client' | ServerSide;
    };

export interface ServerSide {
  readonly fieldManager: string;
  readonly force: 'takeOver' | 'yield';
}

/** The object before and after, as the API server would store it. */
export interface Changed {
  readonly target: Target;
  /** Absent: the change creates it. */
  readonly before?: JsonRecord;
  readonly after: JsonRecord;
}

/** A patch of an object that fits no schema is refused by the server as it would be in earnest, and nothing is stored. */
const dryRun = { dryRun: 'All' } as const;

/**
 * Asks the API server, which checks, defaults and stores nothing.
 *
 * @throws Problem in the words of the server when it refuses.
 */
export async function dryRunOf(reach: Reach, change: Change): Promise<Changed> {
  const { target } = change;
  const type = typeOf(target.kind);
  try {
    const before = await find(reach, type, target);
    const after = await (before === undefined ? created(reach, type, change) : changed(reach, type, change, before));
    return { target, ...(before === undefined ? {} : { before }), after: asRecord(after) };
  } catch (error) {
    throw refusal(error);
  }
}

async function find({ client, namespace }: Reach, type: ResourceType, target: Target): Promise<JsonRecord | undefined> {
  try {
    return asRecord(await client.get(type, { namespace, name: target.name }));
  } catch (error) {
    if (classify(error) === 'notFound') return undefined;
    throw error;
  }
}

function created(reach: Reach, type: ResourceType, change: Change): Promise<KubeObject> {
  const { client, namespace } = reach;
  const { name, kind } = change.target;
  if (change.as === 'patch')
    throw new Problem(`${kind} ${namespace}/${name} does not exist, so that it can't be patched`);
  if (change.by !== 'client') return serverSide(reach, type, change.target, change.object, change.by);
  const metadata = { ...asRecord(change.object['metadata']), namespace };
  return client.create(type, { ...change.object, metadata }, dryRun);
}

function changed(reach: Reach, type: ResourceType, change: Change, before: JsonRecord): Promise<KubeObject> {
  const { client, namespace } = reach;
  const name = { namespace, name: change.target.name };
  if (change.as === 'patch') return client.patch(type, name, change.patch, dryRun);
  if (change.by !== 'client') return serverSide(reach, type, change.target, change.object, change.by);
  const metadata = { ...asRecord(change.object['metadata']), namespace };
  const body = applyPatch(before, { ...change.object, metadata });
  return client.patch(type, name, { kind: 'merge', body }, dryRun);
}

function serverSide(
  { client, namespace }: Reach,
  type: ResourceType,
  target: Target,
  object: JsonRecord,
  { fieldManager, force }: ServerSide,
): Promise<KubeObject> {
  const metadata = { ...asRecord(object['metadata']), namespace };
  const patch = { kind: 'apply', body: { ...object, metadata }, fieldManager, force } as const;
  return client.patch(type, { namespace, name: target.name }, patch, dryRun);
}

/** What a manifest is about; undefined for kinds of which this tool knows nothing. */
export function targetOfManifest(object: JsonRecord): Target | undefined {
  const kind = asText(object['kind']);
  const isOurs = asText(object['apiVersion']).startsWith('ome.io/');
  if (!isOurs || (kind !== 'InferenceService' && kind !== 'InferenceReplica')) return undefined;
  const name = asText(asRecord(object['metadata'])['name']);
  if (name === '') throw new Problem(`a manifest of kind ${kind} has no metadata.name`);
  return { kind, name };
}
