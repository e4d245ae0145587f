/** PATCH: which patch type a request carries, and the write that comes of it. */

import { asObject, isObject, type JsonObject, wireCopy } from '../base/json.js';
import { apply } from './apply.js';
import type { Call } from './call.js';
import { badRequest, invalid, unsupportedMediaType } from './errors.js';
import { jsonPatch } from './patch-json.js';
import { mergePatch } from './patch-merge.js';
import { strategicMerge } from './patch-strategic.js';
import { existing, replace } from './replace.js';
import { readScale, writeScale } from './scale.js';

const APPLY_TYPE = 'application/apply-patch+yaml';

/** Carries out a PATCH. `created` says whether an apply made the object. */
export function patch(call: Call): { readonly object: JsonObject; readonly created: boolean } {
  const type = patchType(call);
  if (type === APPLY_TYPE) return apply(call, applyBody(call));
  const old = existing(call);
  if (call.subresource === 'scale') {
    return { object: writeScale(call, old, patched(call, type, readScale(call.resource, old))), created: false };
  }
  return { object: replace(call, old, patched(call, type, asObject(old)), 'patch'), created: false };
}

function patchType(call: Call): string {
  const [type = ''] = call.contentType.split(';');
  const strategic = call.resource.custom === undefined ? ['application/strategic-merge-patch+json'] : [];
  const accepted = ['application/json-patch+json', 'application/merge-patch+json', ...strategic, APPLY_TYPE];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

function patched(call: Call, type: string, target: JsonObject): JsonObject {
  const body = wireCopy(call.body);
  const result = type === 'application/json-patch+json' ? jsonPatch(target, body) : merged(call, type, target, body);
  if (!isObject(result)) throw badRequest('the patched object is not an object');
  return result;
}

function merged(call: Call, type: string, target: JsonObject, body: unknown): unknown {
  if (!isObject(body)) throw badRequest('error decoding patch: the patch is not an object');
  if (type === 'application/merge-patch+json') return mergePatch(target, body);
  return strategicMerge(target, body, call.resource.merge);
}

function applyBody(call: Call): JsonObject {
  const body = wireCopy(call.body);
  if (!isObject(body)) throw badRequest('the applied object is not an object');
  if (call.query['fieldManager'] === undefined || call.query['fieldManager'] === '') {
    const detail = 'is required for apply patch';
    throw invalid('meta.k8s.io', 'PatchOptions', '', [{ field: 'fieldManager', type: 'Required', detail }]);
  }
  return body;
}
