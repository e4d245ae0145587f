/** What a base model gives to the pods that serve it: its path, a mount, and the nodes that hold it. */
import { asRecord, asText, type JsonRecord } from '../shared/json.js';

/** A model that pods can be rendered for. */
export interface ModelView {
  readonly kind: 'ClusterBaseModel' | 'BaseModel';
  readonly name: string;
  /** '' for a ClusterBaseModel. */
  readonly namespace: string;
  /** `storage.storageUri`. */
  readonly uri: string;
  /** `storage.path`; '' when it is not set. */
  readonly path: string;
}

export function modelViewOf(kind: ModelView['kind'], namespace: string, name: string, spec: JsonRecord): ModelView {
  const storage = asRecord(spec['storage']);
  return { kind, name, namespace, uri: asText(storage['storageUri']), path: asText(storage['path']) };
}

const volumeName = 'ome-model';
/** Where a model on a claim is mounted when it names no path. */
const claimMountPath = '/opt/ml/model';

/** Value of `MODEL_PATH`; '' when the model has none. */
export function modelPath(model: ModelView): string {
  return model.path !== '' || !isOnClaim(model) ? model.path : claimMountPath;
}

/** The volume and its mount, both read-only; undefined for a model that is on no disk. */
export function modelVolume(model: ModelView): { readonly volume: JsonRecord; readonly mount: JsonRecord } | undefined {
  const path = modelPath(model);
  if (path === '' || model.uri.startsWith('vendor://')) return undefined;
  const mount = { name: volumeName, mountPath: path, readOnly: true };
  const claim = /^pvc:\/\/(?:[^:/]+:)?([^/]+)(?:\/(.*))?$/.exec(model.uri);
  if (claim === null) return { volume: { name: volumeName, hostPath: { path } }, mount };
  const [, claimName = '', subPath = ''] = claim;
  return {
    volume: { name: volumeName, persistentVolumeClaim: { claimName, readOnly: true } },
    mount: subPath === '' ? mount : { ...mount, subPath },
  };
}

/** Longest label name, after the `/`. */
const maxLabelName = 63;

/** The node label that says the model is there; undefined for a model on a claim, which is on every node. */
export function modelNodeSelector(model: ModelView): Readonly<Record<string, string>> | undefined {
  if (isOnClaim(model)) return undefined;
  const name =
    model.kind === 'BaseModel' ? `${model.namespace}.basemodel.${model.name}` : `clusterbasemodel.${model.name}`;
  return name.length > maxLabelName ? undefined : { [`models.ome.io/${name}`]: 'Ready' };
}

function isOnClaim(model: ModelView): boolean {
  return model.uri.startsWith('pvc://');
}
