/** Rules of pods: what the server fills in, and what an update may change. */

import { asList, asObject, asText, equal, isObject, type JsonObject, type MutableJson } from '../../base/json.js';
import type { KubeObject } from '../../base/object.js';
import { rfc3339 } from '../../base/time.js';
import type { World } from '../../base/world.js';
import type { FieldError } from '../errors.js';
import { imageFaults, specFaults } from './pod-faults.js';
import { checkAccount, priorityOf } from './pod-references.js';
import { qosClass } from './pod-resources.js';
import { checkQuantities } from './resource-faults.js';

export const podRules = {
  defaults(draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    for (const one of [...asList(spec['containers']), ...asList(spec['initContainers'])]) {
      checkQuantities(asObject(asObject(one)['resources']));
    }
    const filled: MutableJson = {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      ...spec,
      containers: asList(spec['containers']).map((one) => containerDefaults(asObject(one))),
    };
    if (spec['initContainers'] !== undefined) {
      filled['initContainers'] = asList(spec['initContainers']).map((one) => containerDefaults(asObject(one)));
    }
    if (spec['volumes'] !== undefined) {
      filled['volumes'] = asList(spec['volumes']).map((one) => volumeDefaults(asObject(one)));
    }
    return { ...draft, spec: filled };
  },

  admitCreate(world: World, draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    checkAccount(world, draft);
    const admitted = withServiceAccount(world, {
      ...spec,
      ...priorityOf(world, draft),
      tolerations: withNodeTolerations(asList(spec['tolerations'])),
    });
    return { ...draft, spec: admitted, status: firstStatus(world, admitted) };
  },

  faults(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
    const spec = asObject(object['spec']);
    const errors = [...specFaults(spec)];
    if (old !== undefined) errors.push(...updateFaults(spec, asObject(old['spec'])));
    return errors;
  },
} as const;

function containerDefaults(container: JsonObject): JsonObject {
  const image = asText(container['image']);
  const filled: MutableJson = {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: /:(?!latest$)[^/]+$|@/.test(image) ? 'IfNotPresent' : 'Always',
    ...container,
  };
  const resources = asObject(filled['resources']);
  if (isObject(resources['limits'])) {
    filled['resources'] = { ...resources, requests: { ...resources['limits'], ...asObject(resources['requests']) } };
  }
  if (container['ports'] !== undefined) {
    filled['ports'] = asList(container['ports']).map((port) => ({ protocol: 'TCP', ...asObject(port) }));
  }
  if (container['env'] !== undefined) filled['env'] = asList(container['env']).map((one) => envDefaults(asObject(one)));
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe']) {
    if (isObject(container[probe])) filled[probe] = probeDefaults(container[probe]);
  }
  return filled;
}

function envDefaults(variable: JsonObject): JsonObject {
  const source = asObject(variable['valueFrom']);
  if (!isObject(source['fieldRef'])) return variable;
  return { ...variable, valueFrom: { ...source, fieldRef: { apiVersion: 'v1', ...source['fieldRef'] } } };
}

function probeDefaults(probe: JsonObject): JsonObject {
  const filled: MutableJson = {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...probe,
  };
  if (isObject(probe['httpGet'])) filled['httpGet'] = { path: '/', scheme: 'HTTP', ...probe['httpGet'] };
  return filled;
}

function volumeDefaults(volume: JsonObject): JsonObject {
  const filled: MutableJson = { ...volume };
  for (const source of ['configMap', 'secret', 'projected', 'downwardAPI']) {
    if (isObject(volume[source])) filled[source] = { defaultMode: 420, ...volume[source] };
  }
  if (isObject(volume['hostPath'])) filled['hostPath'] = { type: '', ...volume['hostPath'] };
  return filled;
}

/** Pods leave a node that went away after five minutes, unless they say otherwise. */
function withNodeTolerations(tolerations: readonly unknown[]): readonly unknown[] {
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter((key) => !tolerations.filter(isObject).some((one) => coversNoExecute(one, key)))
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  return [...tolerations, ...added];
}

function coversNoExecute(toleration: JsonObject, key: string): boolean {
  const { key: own, effect } = toleration;
  return (
    (own === key || own === undefined || own === '') &&
    (effect === 'NoExecute' || effect === undefined || effect === '')
  );
}

function withServiceAccount(world: World, spec: JsonObject): JsonObject {
  const account = asText(spec['serviceAccountName']) || 'default';
  const named = { ...spec, serviceAccountName: account, serviceAccount: account };
  if (spec['automountServiceAccountToken'] === false) return named;
  const suffix = Array.from({ length: 5 }, () => 'bcdfghjklmnpqrstvwxz2456789'.charAt(world.random.next() % 27)).join(
    '',
  );
  const volume = `kube-api-access-${suffix}`;
  const mount = { name: volume, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  const withMount = (one: unknown): JsonObject => {
    const container = asObject(one);
    return { ...container, volumeMounts: [...asList(container['volumeMounts']), mount] };
  };
  const mounted: MutableJson = {
    ...named,
    volumes: [...asList(spec['volumes']), tokenVolume(volume)],
    containers: asList(spec['containers']).map(withMount),
  };
  if (spec['initContainers'] !== undefined) mounted['initContainers'] = asList(spec['initContainers']).map(withMount);
  return mounted;
}

function tokenVolume(name: string): JsonObject {
  const namespaceItem = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespaceItem] } },
      ],
      defaultMode: 420,
    },
  };
}

function firstStatus(world: World, spec: JsonObject): JsonObject {
  const status: MutableJson = { phase: 'Pending', qosClass: qosClass(spec) };
  if (asList(spec['schedulingGates']).length === 0) return status;
  return { ...status, conditions: [gatedCondition(world)] };
}

function gatedCondition(world: World): JsonObject {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: rfc3339(world.nowMs),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

const CHANGEABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function updateFaults(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const list of ['containers', 'initContainers']) {
    if (asList(spec[list]).length === asList(before[list]).length) continue;
    return [{ field: `spec.${list}`, type: 'Forbidden', detail: 'pod updates may not add or remove containers' }];
  }
  // Images are checked a second time, as what may change.
  for (const list of ['containers', 'initContainers']) errors.push(...imageFaults(asList(spec[list]), `spec.${list}`));
  const oldTolerations = asList(before['tolerations']);
  const missing = oldTolerations.some((old) => !asList(spec['tolerations']).some((now) => equalToleration(now, old)));
  if (missing) {
    const detail = 'existing toleration can not be modified except its tolerationSeconds';
    errors.push({ field: 'spec.tolerations', type: 'Forbidden', detail });
  }
  const oldGates = asList(before['schedulingGates']);
  asList(spec['schedulingGates']).forEach((gate, i) => {
    if (oldGates.some((old) => equal(old, gate))) return;
    const name = asText(asObject(gate)['name']);
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push({ field: `spec.schedulingGates[${i}].name`, type: 'Forbidden', detail });
  });
  if (!equal(frozenPart(spec, oldGates.length > 0), frozenPart(before, oldGates.length > 0))) {
    const changed = Object.keys({ ...spec, ...before }).filter((key) => !equal(spec[key], before[key]));
    const detail = `pod updates may not change fields other than ${CHANGEABLE}\n(changed: ${changed.join(', ')})`;
    errors.push({ field: 'spec', type: 'Forbidden', detail });
  }
  return errors;
}

function equalToleration(now: unknown, old: unknown): boolean {
  return equal({ ...asObject(now), tolerationSeconds: 0 }, { ...asObject(old), tolerationSeconds: 0 });
}

/** The spec without what an update may change. While a pod is gated its node selector and node affinity may too. */
function frozenPart(spec: JsonObject, gated: boolean): JsonObject {
  const rest: MutableJson = { ...spec };
  for (const key of ['tolerations', 'schedulingGates', 'activeDeadlineSeconds']) delete rest[key];
  if (gated) {
    delete rest['nodeSelector'];
    rest['affinity'] = { ...asObject(rest['affinity']), nodeAffinity: undefined };
  }
  for (const list of ['containers', 'initContainers']) {
    if (rest[list] !== undefined) rest[list] = asList(rest[list]).map((one) => ({ ...asObject(one), image: '' }));
  }
  return rest;
}
