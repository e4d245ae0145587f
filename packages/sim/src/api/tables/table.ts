/** Tables for `kubectl get`: of a list, of one object, of the object of an event. */

import { asObject, isList, type JsonObject } from '../../base/json.js';
import type { KubeObject } from '../../base/object.js';
import { jsonPath } from '../../crd/json-path.js';
import { apiVersionOf, type Resource } from '../resource.js';
import { age } from './age.js';
import { builtInShape, customColumn, type TableShape } from './columns.js';

/** How much of each object a row carries. */
export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** The table of a list or of an object. */
export function toTable(resource: Resource, body: JsonObject, include: IncludeObject, nowMs: number): JsonObject {
  const objects = isList(body['items']) ? body['items'] : [body];
  const { resourceVersion, continue: next, remainingItemCount } = asObject(body['metadata']);
  const { columns, cells } = shapeOf(resource);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {
      resourceVersion,
      ...(next === undefined || next === '' ? {} : { continue: next }),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    },
    columnDefinitions: columns,
    rows: objects.map((object) => ({
      cells: cells(object as KubeObject, nowMs),
      object: rowObject(resource, asObject(object), include),
    })),
  };
}

/** What is carried says what it is, even where an item of the list did not: kubectl can't sort rows that don't. */
function rowObject(resource: Resource, object: JsonObject, include: IncludeObject): JsonObject | null {
  switch (include) {
    case 'Object':
      return { kind: resource.kind, apiVersion: apiVersionOf(resource), ...object };
    case 'Metadata':
      return metadataOnly(object);
    case 'None':
      return null;
  }
}

/** An object reduced to its metadata. */
export function metadataOnly(object: JsonObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] };
}

function shapeOf(resource: Resource): TableShape {
  if (resource.custom === undefined) return builtInShape(resource.id);
  const { columns } = resource.custom;
  const name = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 };
  // A definition without columns of its own shows the age.
  const shown = columns.length > 0 ? columns : [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];
  return {
    columns: [name, ...shown.map((column) => customColumn({ ...column }))],
    cells: (object, nowMs) => [
      object.metadata.name,
      ...shown.map(({ type, jsonPath: path }) => customCell(jsonPath(object, path), type, nowMs)),
    ],
  };
}

function customCell(values: readonly unknown[], type: string, nowMs: number): unknown {
  const [value] = values;
  if (value === undefined || value === null) return null;
  if (type === 'date') return age(value, nowMs);
  if (type === 'integer' || type === 'number' || type === 'boolean') return value;
  if (values.length > 1) return values.map(text).join(',');
  return text(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
