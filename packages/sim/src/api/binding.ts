/** The binding subresource: how a scheduler gives a pod its node. */

import { asList, asObject, asText, isObject, type JsonObject, wireCopy } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { Call } from './call.js';
import { badRequest, conflict } from './errors.js';
import { existing } from './replace.js';

/** Binds the pod of the call to the node its body names. Throws 409 when it has a node or is being deleted. */
export function bind(call: Call): JsonObject {
  const pod = existing(call);
  const node = asText(asObject(asObject(wireCopy(call.body))['target'])['name']);
  if (node === '') throw badRequest('target.name: Required value');
  const spec = asObject(pod['spec']);
  const { name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined)
    throw conflict(call.resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const before = asText(spec['nodeName']);
  if (before !== '') throw conflict(call.resource, name, `pod ${name} is already assigned to node "${before}"`);
  call.world.commit('pods', boundTo(pod, node, call.world.nowMs), pod, call.user);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

/** The pod with its node and the condition that says so. */
export function boundTo(pod: KubeObject, node: string, nowMs: number): KubeObject {
  const status = asObject(pod['status']);
  const rest = asList(status['conditions']).filter((one) => !isObject(one) || one['type'] !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: rfc3339(nowMs) };
  return {
    ...pod,
    spec: { ...asObject(pod['spec']), nodeName: node },
    status: { ...status, conditions: [...rest, scheduled] },
  };
}
