/** Rules of the kinds that have few: namespaces, nodes, secrets, config maps, controller revisions, resource definitions. */

import { asList, asObject, asText, equal, isObject, type JsonObject, without } from '../../base/json.js';
import type { KubeObject } from '../../base/object.js';
import { rfc3339 } from '../../base/time.js';
import type { World } from '../../base/world.js';
import type { FieldError } from '../errors.js';

export const namespace = {
  admitCreate(_world: World, draft: JsonObject): JsonObject {
    const metadata = asObject(draft['metadata']);
    const labels = { ...asObject(metadata['labels']), 'kubernetes.io/metadata.name': metadata['name'] };
    return {
      ...draft,
      metadata: { ...metadata, labels },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
  },
} as const;

export const node = {
  /** A kubelet registers its node with a status. */
  statusAtCreate: 'kept',

  admitCreate(_world: World, draft: JsonObject): JsonObject {
    return { ...draft, spec: asObject(draft['spec']), status: asObject(draft['status']) };
  },
} as const;

export const secret = {
  /** `stringData` is a way to write `data`; it is never stored. */
  defaults(draft: JsonObject): JsonObject {
    const texts = Object.entries(asObject(draft['stringData']));
    const typed = { type: 'Opaque', ...without(draft, 'stringData') };
    if (texts.length === 0) return typed;
    const encoded = Object.fromEntries(texts.map(([key, value]) => [key, base64(asText(value))]));
    return { ...typed, data: { ...asObject(draft['data']), ...encoded } };
  },
} as const;

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

export const configMap = {
  faults(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
    if (old?.['immutable'] !== true) return [];
    const errors: FieldError[] = [];
    const detail = 'field is immutable when `immutable` is set';
    if (object['immutable'] !== true) errors.push({ field: 'immutable', type: 'Forbidden', detail });
    if (!equal(object['data'], old['data'])) errors.push({ field: 'data', type: 'Forbidden', detail });
    return errors;
  },
} as const;

export const controllerRevision = {
  faults(object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
    if (object['data'] === undefined) return [{ field: 'data', type: 'Required', detail: 'data is mandatory' }];
    if (old === undefined || equal(object['data'], old['data'])) return [];
    return [{ field: 'data', type: 'Invalid', value: object['data'], detail: 'field is immutable' }];
  },
} as const;

export const customResourceDefinition = {
  defaults(draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    const names = asObject(spec['names']);
    const kind = asText(names['kind']);
    return {
      ...draft,
      spec: {
        conversion: { strategy: 'None' },
        ...spec,
        names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      },
    };
  },

  admitCreate(world: World, draft: JsonObject): JsonObject {
    const spec = asObject(draft['spec']);
    const time = rfc3339(world.nowMs);
    const stored = asList(spec['versions'])
      .filter(isObject)
      .find((version) => version['storage'] === true);
    const condition = (type: string, reason: string, message: string): JsonObject => {
      return { type, status: 'True', lastTransitionTime: time, reason, message };
    };
    return {
      ...draft,
      status: {
        conditions: [
          condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
          condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
        ],
        acceptedNames: spec['names'],
        storedVersions: [asText(stored?.['name'])],
      },
    };
  },

  faults(object: KubeObject): readonly FieldError[] {
    const spec = asObject(object['spec']);
    const wanted = `${asText(asObject(spec['names'])['plural'])}.${asText(spec['group'])}`;
    if (object.metadata.name === wanted) return [];
    const detail = `must be spec.names.plural+"."+spec.group`;
    return [{ field: 'metadata.name', type: 'Invalid', value: object.metadata.name, detail }];
  },
} as const;
