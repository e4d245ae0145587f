/**
 * What the controllers write for an input, as the text of golden files: the bodies of their requests, and the statuses of the
 * codec. A cluster holds such objects for years, and a later version has to find them as its own.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeStatus, encodeAs } from '@omenative/api';
import type { Cluster, KubeObject } from '@omenative/sim';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { Simulation } from '../simulation.js';
import { post } from './adopted.js';

type Json = Readonly<Record<string, unknown>>;

/** Text by file name. */
export type Golden = ReadonlyMap<string, string>;

const folder = fileURLToPath(new URL('../../../golden/', import.meta.url));
const objectsFolder = path.join(folder, 'objects');
const statusesFolder = path.join(folder, 'statuses');
const inputSuffix = 'in.yaml';

/** Objects that are kept, by the plural in their path. */
const kept: Readonly<Record<string, string>> = {
  inferencereplicas: 'inferencereplica',
  controllerrevisions: 'controllerrevision',
  pods: 'pod',
};

export const objectCases: readonly string[] = readdirSync(objectsFolder).toSorted();

export const statusCases: readonly string[] = readdirSync(statusesFolder)
  .filter((file) => file.endsWith(`.${inputSuffix}`))
  .map((file) => file.slice(0, -inputSuffix.length - 1))
  .toSorted();

/** What is stored for a case: all files but the input. */
export function storedObjects(name: string): Golden {
  const files = readdirSync(path.join(objectsFolder, name)).filter((file) => file !== inputSuffix);
  return new Map(files.toSorted().map((file) => [file, readFileSync(path.join(objectsFolder, name, file), 'utf8')]));
}

export function storedStatuses(name: string): Golden {
  const files = readdirSync(statusesFolder).filter(
    (file) => file.startsWith(`${name}.`) && !file.endsWith(inputSuffix),
  );
  return new Map(files.toSorted().map((file) => [file, readFileSync(path.join(statusesFolder, file), 'utf8')]));
}

/** What the controllers create for the input of a case: replicas, revisions and pods, in the order of their names. */
export async function derivedObjects(name: string): Promise<Golden> {
  const simulation = new Simulation({ seed: 1 });
  const created = new Map<string, string>();
  simulation.startManager({
    onRequest: ({ method, path: target, body, query }) => {
      const kind = kept[target.split('/').at(-1) ?? ''];
      if (method !== 'POST' || kind === undefined || query?.['dryRun'] !== undefined) return;
      const object = body as { readonly metadata: { readonly name: string } };
      created.set(`${kind}-${object.metadata.name}.yaml`, textOf(withoutUids(object)));
    },
  });
  for (const manifest of inputOf(name)) postInput(simulation.cluster, manifest);
  await simulation.run(30_000);
  return new Map([...created].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A manifest of an input. */
export interface Manifest extends Json {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** What a person applies in a case. */
export function inputOf(name: string): readonly Manifest[] {
  const text = readFileSync(path.join(objectsFolder, name, inputSuffix), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Applies a manifest of an input. @throws Error when the server refuses it. */
export function postInput(cluster: Cluster, manifest: Manifest): KubeObject {
  const { namespace } = manifest.metadata;
  const home = namespace === undefined ? '' : `namespaces/${namespace}/`;
  return post(cluster, `/apis/ome.io/v1beta1/${home}${manifest.kind.toLowerCase()}s`, manifest);
}

/**
 * A status in both encodings.
 *
 * @throws Error when the input can't be decoded, or when one encoding is not read as the other is.
 */
export function derivedStatuses(name: string): Golden {
  const input = parse(readFileSync(path.join(statusesFolder, `${name}.${inputSuffix}`), 'utf8')) as Json;
  const columnar = reencoded(input, 'ColumnarV2');
  const dense = reencoded(columnar, 'DenseV1');
  return new Map([
    [`${name}.columnar.yaml`, textOf(columnar)],
    [`${name}.dense.yaml`, textOf(dense)],
  ]);
}

function reencoded(status: Json, encoding: 'DenseV1' | 'ColumnarV2'): Json {
  const decoded = decodeStatus(status);
  if (!decoded.ok) throw new Error(decoded.message);
  return encodeAs(decoded.status, encoding).status as Json;
}

/** Writes what is missing, and changes nothing that is there. Returns the files written. */
export async function writeMissing(): Promise<readonly string[]> {
  const written: string[] = [];
  const write = (file: string, text: string): void => {
    if (existsSync(file)) return;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    written.push(file);
  };
  for (const name of objectCases) {
    for (const [file, text] of await derivedObjects(name)) write(path.join(objectsFolder, name, file), text);
  }
  for (const name of statusCases) {
    for (const [file, text] of derivedStatuses(name)) write(path.join(statusesFolder, file), text);
  }
  return written;
}

/** The keys in order: only the order of lists means something. */
function textOf(object: unknown): string {
  return stringify(object, { sortMapEntries: true, lineWidth: 0 });
}

/** UIDs are the cluster's; whom they name stays. */
function withoutUids(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUids);
  if (typeof value !== 'object' || value === null) return value;
  const { uid, ...members } = value as Json;
  const others = Object.fromEntries(Object.entries(members).map(([key, member]) => [key, withoutUids(member)]));
  return uid === undefined ? others : { ...others, uid: `of ${String(members['kind'])} ${String(members['name'])}` };
}
