/** Event objects of the cluster's own parts, for `kubectl describe`. */

import { type KubeObject, objectKey } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { World } from '../base/world.js';
import { createObject } from './act.js';

export interface Happening {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Who saw it: `kubelet`. */
  readonly component: string;
  /** The node it was seen on. */
  readonly host?: string;
  /** The part of the object: `spec.containers{main}`. */
  readonly fieldPath?: string;
}

/** Records an event, or counts one more of the same. Does nothing when the options say that parts stay silent. */
export function recordEvent(world: World, about: KubeObject, what: Happening): void {
  if (world.options.partEvents === 'silent') return;
  const { namespace = 'default', name, uid, resourceVersion } = about.metadata;
  const eventName = `${name}.${digest([uid, what.reason, what.message, what.fieldPath ?? ''].join('\n'))}`;
  const time = rfc3339(world.nowMs);
  const old = world.store.get('events', objectKey(namespace, eventName));
  if (old !== undefined) {
    const count = typeof old['count'] === 'number' ? old['count'] + 1 : 2;
    world.commit('events', { ...old, count, lastTimestamp: time }, old, what.component);
    return;
  }
  if (world.store.get('namespaces', namespace)?.metadata.deletionTimestamp !== undefined) return;
  const draft = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName, namespace },
    involvedObject: {
      kind: about.kind,
      apiVersion: about.apiVersion,
      namespace: about.metadata.namespace,
      name,
      uid,
      resourceVersion,
      ...(what.fieldPath === undefined ? {} : { fieldPath: what.fieldPath }),
    },
    reason: what.reason,
    message: what.message,
    source: what.host === undefined ? { component: what.component } : { component: what.component, host: what.host },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: what.type,
    eventTime: null,
    reportingComponent: what.component,
    reportingInstance: what.host ?? '',
  };
  createObject(world, 'events', draft as unknown as KubeObject, what.component);
}

function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i += 1) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ text.charCodeAt(i), 0x85ebca6b);
  }
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}
