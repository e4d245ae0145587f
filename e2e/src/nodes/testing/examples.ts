/** The files of `examples/`, as a reader would apply them, in the namespace of a suite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { KubeObject, ResourceType } from '@omenative/kube';
import { parseAllDocuments } from 'yaml';
import type { Api } from './api.js';
import { inferenceReplicas, inferenceServices, servingRuntimes } from './objects.js';

const folder = path.resolve(import.meta.dirname, '../../../../examples');
const known: readonly ResourceType[] = [servingRuntimes, inferenceServices, inferenceReplicas];

/** The objects of an example, in the order of the file. Its namespace is left out: a suite has its own. */
export function example(name: string): readonly KubeObject[] {
  const text = readFileSync(path.join(folder, `${name}.yaml`), 'utf8');
  const documents = parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`examples/${name}.yaml: ${document.errors.join('; ')}`);
    return document.toJS() as KubeObject;
  });
  return documents.filter(({ kind }) => kind !== 'Namespace');
}

/** Creates objects of the kinds that examples consist of. */
export async function createAll(api: Api, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const type = known.find(({ kind }) => kind === object.kind);
    if (type === undefined) throw new Error(`examples hold no ${object.kind}`);
    await api.create(type, object);
  }
}
