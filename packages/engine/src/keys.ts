/** Effect keys: the same wish has the same key in every pass, so that what came of it can be found again. */
import type { EffectKey } from './effects.js';

export function keyOfCreate(podName: string, coveredBy: string): EffectKey {
  return `createPod/${podName}/${coveredBy}`;
}

/** Whether the effect of this key makes a pod. */
export function isCreateKey(key: EffectKey): boolean {
  return key.startsWith('createPod/');
}

export function keyOfDelete(podName: string, uid: string, coveredBy: string): EffectKey {
  return `deletePod/${podName}/${uid}/${coveredBy}`;
}

export function keyOfGate(podName: string, uid: string, change: 'add' | 'remove', writer: string): EffectKey {
  return `gate/${podName}/${uid}/${change}-${writer}`;
}

export function keyOfObject(verb: string, name: string): EffectKey {
  return `${verb}/${name}/object`;
}

export function keyOfPatch(podName: string, uid: string, coveredBy: string): EffectKey {
  return `patchInPlace/${podName}/${uid}/${coveredBy}`;
}
