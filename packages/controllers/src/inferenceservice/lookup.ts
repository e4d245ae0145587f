/** The runtime and the model that an InferenceService names, or the reason why it can't be served with them. */
import { asRecord, asText, type JsonRecord } from '../shared/json.js';
import type { ObjectRecord } from '../shared/object-record.js';
import { type ModelView, modelNodeSelector, modelViewOf } from './model.js';
import type { InferenceServiceRecord } from './service-record.js';

/** Reads of the cached runtimes and models. */
export interface Catalog {
  servingRuntime(namespace: string, name: string): ObjectRecord | undefined;
  clusterServingRuntime(name: string): ObjectRecord | undefined;
  baseModel(namespace: string, name: string): ObjectRecord | undefined;
  clusterBaseModel(name: string): ObjectRecord | undefined;
}

/** Something stands in the way. `reason` is that of the condition and of the event. */
export interface LookupProblem {
  readonly found: 'problem';
  readonly reason: string;
  /** For people: what is wrong and what to do. */
  readonly message: string;
}

export type RuntimeLookup =
  | { readonly found: 'runtime'; readonly name: string; readonly spec: JsonRecord }
  | LookupProblem;

export type ModelLookup =
  | { readonly found: 'none' }
  /** `waiting`: it is on no node yet, so that nothing new is started; what runs goes on. */
  | { readonly found: 'model'; readonly model: ModelView; readonly waiting?: string }
  | LookupProblem;

/** `spec.runtime` of the service. A name is looked up among the cluster's runtimes first, unless it asks for its namespace. */
export function lookUpRuntime(service: InferenceServiceRecord, catalog: Catalog): RuntimeLookup {
  const reference = asRecord(service.spec['runtime']);
  const name = asText(reference['name']);
  const kind = asText(reference['kind']) || 'ClusterServingRuntime';
  const { namespace } = service.meta;
  if (name === '') {
    return problem(
      'RuntimeNotFound',
      'spec.runtime is not set, and no runtime is chosen by itself: set spec.runtime.name',
    );
  }
  if (reference['autoSync'] === false) {
    return problem(
      'RuntimePinError',
      'spec.runtime.autoSync false pins a runtime, which is not available: leave autoSync out',
    );
  }
  const clusterWide = kind === 'ServingRuntime' ? undefined : catalog.clusterServingRuntime(name);
  const found = clusterWide ?? catalog.servingRuntime(namespace, name);
  if (found === undefined) {
    const where =
      kind === 'ServingRuntime'
        ? `namespace ${namespace}`
        : `the cluster, or a ServingRuntime of it in namespace ${namespace}`;
    return problem(
      'RuntimeNotFound',
      `${kind} "${name}" does not exist: create it in ${where}, or name another in spec.runtime.name`,
    );
  }
  const spec = asRecord(found.raw['spec']);
  if (spec['disabled'] === true) {
    return problem('RuntimeDisabled', `${kind} "${name}" is disabled: enable it, or name another in spec.runtime.name`);
  }
  const parent = found.meta.annotations['ome.io/inherit-from'];
  if (parent !== undefined && parent !== '') {
    const message = `${kind} "${name}" inherits from "${parent}" (ome.io/inherit-from), which is not available: write it out in full`;
    return problem('RuntimeInheritanceUnavailable', message);
  }
  return { found: 'runtime', name, spec };
}

/** Lifecycle states in which a model is on no node. A model without a state has nobody who reports one. */
const absentStates = ['Creating', 'Importing', 'In_Transit', 'In_Training', 'Failed'];

/** `spec.model` of the service. */
export function lookUpModel(service: InferenceServiceRecord, catalog: Catalog): ModelLookup {
  const reference = asRecord(service.spec['model']);
  const name = asText(reference['name']);
  if (name === '') return { found: 'none' };
  const kind = asText(reference['kind']) || 'ClusterBaseModel';
  const { namespace } = service.meta;
  if (kind !== 'ClusterBaseModel' && kind !== 'BaseModel') {
    return problem('ModelKindInvalid', `spec.model.kind "${kind}" is unknown: write ClusterBaseModel or BaseModel`);
  }
  const record = kind === 'BaseModel' ? catalog.baseModel(namespace, name) : catalog.clusterBaseModel(name);
  if (record === undefined) {
    const where = kind === 'BaseModel' ? ` in namespace ${namespace}` : '';
    return problem('ModelNotFound', `${kind} "${name}" does not exist${where}: create it, or correct spec.model`);
  }
  const spec = asRecord(record.raw['spec']);
  if (spec['disabled'] === true)
    return problem('ModelDisabled', `specified base model ${name} is disabled: enable it, or name another`);
  const model = modelViewOf(kind, kind === 'BaseModel' ? namespace : '', name, spec);
  if (modelNodeSelector(model) === undefined && !model.uri.startsWith('pvc://')) {
    const message = `${kind} "${name}": its name is too long for the node label that says where it is; use a shorter one`;
    return problem('ModelNameTooLong', message);
  }
  const state = asText(asRecord(record.raw['status'])['state']);
  if (!absentStates.includes(state)) return { found: 'model', model };
  return { found: 'model', model, waiting: `${kind} "${name}" is ${state} and on no node yet` };
}

function problem(reason: string, message: string): LookupProblem {
  return { found: 'problem', reason, message };
}
