/** What stands between a valid object and its creation: the namespace, and its quotas. */

import { asObject, asText } from '../base/json.js';
import { type KubeObject, objectKey } from '../base/object.js';
import type { Call } from './call.js';
import { forbidden, notFound } from './errors.js';
import { chargeQuota } from './quota.js';

/** Throws 404 when the namespace is missing, 403 when it is being deleted or a quota is used up. */
export function admitCreate(call: Call, object: KubeObject): void {
  const { world, resource } = call;
  const { namespace, name } = object.metadata;
  if (namespace === undefined) return;
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
  chargeQuota(call, object);
}
