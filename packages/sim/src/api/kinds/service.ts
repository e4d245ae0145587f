/** Rules of Services: addresses, port defaults, what may not change. */

import { asList, asObject, asText, equal, isObject, type JsonObject } from '../../base/json.js';
import type { KubeObject } from '../../base/object.js';
import type { World } from '../../base/world.js';
import type { FieldError } from '../errors.js';

export const serviceRules = {
  defaults(draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    const ports = asList(spec['ports']).map((port) => portDefaults(asObject(port)));
    return {
      ...draft,
      spec: {
        sessionAffinity: 'None',
        type: 'ClusterIP',
        ...spec,
        ...(ports.length === 0 ? {} : { ports }),
      },
    };
  },

  admitCreate(world: World, draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    if (spec['type'] === 'ExternalName') return { ...draft, status: { loadBalancer: {} } };
    const clusterIP = asText(spec['clusterIP']) || freeAddress(world);
    return {
      ...draft,
      spec: {
        ...spec,
        clusterIP,
        clusterIPs: [clusterIP],
        internalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      },
      status: { loadBalancer: {} },
    };
  },

  prepareUpdate(draft: JsonObject, old: KubeObject): JsonObject {
    const spec = asObject(draft['spec']);
    const before = asObject(old['spec']);
    const kept: Record<string, unknown> = {};
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
      if (spec[key] === undefined && before[key] !== undefined) kept[key] = before[key];
    }
    return { ...draft, spec: { ...spec, ...kept } };
  },

  faults(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
    const spec = asObject(object['spec']);
    const errors: FieldError[] = [];
    const ports = asList(spec['ports']);
    const headless = spec['clusterIP'] === 'None';
    if (ports.length === 0 && !headless && spec['type'] !== 'ExternalName') {
      errors.push({ field: 'spec.ports', type: 'Required', detail: '' });
    }
    errors.push(...portFaults(ports));
    const before = asObject(old?.['spec']);
    const moved = !equal(before['clusterIPs'], spec['clusterIPs']) || before['clusterIP'] !== spec['clusterIP'];
    if (old !== undefined && moved) {
      const detail = 'may not change once set';
      errors.push({ field: 'spec.clusterIPs[0]', type: 'Invalid', value: spec['clusterIPs'], detail });
    }
    return errors;
  },
} as const;

function portDefaults(port: JsonObject): JsonObject {
  return { protocol: 'TCP', targetPort: port['port'], ...port };
}

function portFaults(ports: readonly unknown[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const pairs = new Set<string>();
  ports.filter(isObject).forEach((port, i) => {
    const field = `spec.ports[${i}]`;
    const name = asText(port['name']);
    if (ports.length > 1 && name === '') errors.push({ field: `${field}.name`, type: 'Required', detail: '' });
    if (name !== '' && names.has(name)) {
      errors.push({ field: `${field}.name`, type: 'Duplicate', value: name, detail: '' });
    }
    names.add(name);
    const number = port['port'];
    if (typeof number !== 'number' || number < 1 || number > 65_535) {
      const detail = 'must be between 1 and 65535, inclusive';
      errors.push({ field: `${field}.port`, type: 'Invalid', value: number, detail });
    }
    const pair = `${String(number)}/${asText(port['protocol'])}`;
    if (pairs.has(pair)) {
      const value = { port: number, protocol: port['protocol'] };
      errors.push({ field, type: 'Duplicate', value, detail: '' });
    }
    pairs.add(pair);
  });
  return errors;
}

// Addresses are handed out in the order of a counter kept with the world; one that was freed is not used again soon.
function freeAddress(world: World): string {
  const last = world.notes.get('service-addresses');
  const next = (typeof last === 'number' ? last : 9) + 1;
  world.notes.set('service-addresses', next);
  return `10.0.${(next >> 8) & 255}.${next & 255}`;
}
