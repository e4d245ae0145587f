/** The form an answer takes: as it is, as a table, or as metadata alone. */

import { asText, isList, type JsonObject } from '../base/json.js';
import type { Call } from './call.js';
import { type IncludeObject, metadataOnly, toTable } from './tables/table.js';

type Form = 'whole' | 'table' | 'metadata';

/** The form an Accept header prefers: the first one that is known. */
function preferredForm(accept: string | undefined): Form {
  for (const part of (accept ?? '').split(',')) {
    if (part.includes('as=Table')) return 'table';
    if (part.includes('as=PartialObjectMetadata')) return 'metadata';
    if (part.includes('application/json') || part.includes('*/*')) return 'whole';
  }
  return 'whole';
}

/** A body in the form that was asked for. A Status stays as it is. */
export function render(call: Call, body: JsonObject): JsonObject {
  if (body['kind'] === 'Status') return body;
  switch (preferredForm(call.accept)) {
    case 'whole':
      return body;
    case 'table':
      return toTable(call.resource, body, includeObject(call.query['includeObject']), call.world.nowMs);
    case 'metadata':
      return asMetadata(body);
  }
}

function includeObject(text: string | undefined): IncludeObject {
  return text === 'Object' || text === 'None' ? text : 'Metadata';
}

function asMetadata(body: JsonObject): JsonObject {
  const { items, metadata } = body;
  if (!isList(items) || !asText(body['kind']).endsWith('List')) return metadataOnly(body);
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    items: items.map((item) => metadataOnly(item as JsonObject)),
  };
}
