/** What stands between an object and its write: its namespace before it is looked at, others' rules and quotas after. */

import { asObject, asText } from '../base/json.js';
import { type KubeObject, objectKey } from '../base/object.js';
import type { Refusal } from '../base/review.js';
import type { Call } from './call.js';
import { ApiError, forbidden, notFound } from './errors.js';
import { chargeQuota } from './quota.js';
import type { Resource } from './resource.js';

/** Throws 404 when the namespace of a new object is missing, 403 when it is being deleted. */
export function admitNamespace(call: Call, name: string): void {
  const { world, resource, namespace } = call;
  if (!resource.namespaced || namespace === undefined) return;
  const home = world.store.get('namespaces', objectKey(undefined, namespace));
  if (home === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (asText(asObject(home['status'])['phase']) === 'Terminating' || home.metadata.deletionTimestamp !== undefined) {
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const cause = {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    };
    throw forbidden(resource, name, why, [cause]);
  }
}

/** Asks those who may refuse a valid object, quotas last. Throws their refusal. */
export function admitWrite(call: Call, object: KubeObject, old: KubeObject | undefined): void {
  const { world, resource, subresource, user } = call;
  const operation = old === undefined ? 'CREATE' : 'UPDATE';
  const refusal = world.admit({ operation, resource: resource.id, subresource, object, old, user });
  if (refusal !== undefined) throw refusalError(resource, object.metadata.name, refusal);
  if (old === undefined && resource.namespaced) chargeQuota(call, object);
}

function refusalError(resource: Resource, name: string, refusal: Refusal): ApiError {
  switch (refusal.is) {
    case 'denied': {
      const { policy, binding, reason } = refusal;
      const message = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${refusal.message}`;
      const { message: text, details } = forbidden(resource, name, message);
      return new ApiError(reason === 'Invalid' ? 422 : 403, reason, text, { ...details, causes: [{ message }] });
    }
    case 'unreachable': {
      const { webhook, url, error } = refusal;
      const message = `failed calling webhook "${webhook}": failed to call webhook: Post "${url}?timeout=10s": ${error}`;
      return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
    }
  }
}
