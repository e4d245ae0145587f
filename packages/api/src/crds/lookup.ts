/** Finds the schema of a kind. */
import type { Kind } from '../generated/types.js';
import { crds } from './index.js';
import type { StructuralSchema } from './schema.js';

const schemas: ReadonlyMap<string, StructuralSchema> = new Map(
  crds.map((crd) => [crd.spec.names.kind, crd.spec.versions[0].schema.openAPIV3Schema]),
);

/** The schema of a whole object of `kind`. Throws for a kind that is not ours: a mistake of the caller. */
export function schemaOf(kind: Kind): StructuralSchema {
  const schema = schemas.get(kind);
  if (!schema) throw new Error(`no schema for kind ${kind}; known are ${[...schemas.keys()].join(', ')}`);
  return schema;
}
