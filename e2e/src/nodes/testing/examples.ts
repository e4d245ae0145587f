/** The files of `examples/`, as a reader would apply them, in the namespace of a suite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ResourceType } from '@omenative/kube';
import { parseAllDocuments } from 'yaml';
import type { Api, Manifest } from './api.js';
import { inferenceReplicas, inferenceServices, servingRuntimes } from './objects.js';

const folder = path.resolve(import.meta.dirname, '../../../../examples');
const known: readonly ResourceType[] = [servingRuntimes, inferenceServices, inferenceReplicas];

/** The objects of an example, in the order of the file. Its namespace is left out: a suite has its own. */
export function example(name: string): readonly Manifest[] {
  const text = readFileSync(path.join(folder, `${name}.yaml`), 'utf8');
  const documents = parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`examples/${name}.yaml: ${document.errors.join('; ')}`);
    return document.toJS() as Manifest;
  });
  return documents.filter(({ kind }) => kind !== 'Namespace');
}

/** Creates objects of the kinds that examples consist of. */
export async function createAll(api: Api, objects: readonly Manifest[]): Promise<void> {
  for (const object of objects) {
    const type = known.find(({ kind }) => kind === object.kind);
    if (type === undefined) throw new Error(`examples hold no ${object.kind}`);
    await api.create(type, object);
  }
}

/** The same object under another name. */
export function renamed(object: Manifest | undefined, name: string): Manifest {
  if (object === undefined) throw new Error(`there is no object to be named ${name}`);
  return { ...object, metadata: { ...object.metadata, name } };
}
