/** Which object a person means: `irep/chat-engine`, `isvc chat`, or the long names. */

import { inferenceReplicaType, inferenceServiceType } from '@omenative/controllers/observe';
import type { ResourceType } from '@omenative/kube';
import { Problem } from './problem.js';

export interface Target {
  readonly kind: 'InferenceService' | 'InferenceReplica';
  readonly name: string;
}

/** The words that kubectl takes for each kind. */
const words: Readonly<Record<string, Target['kind']>> = {
  isvc: 'InferenceService',
  inferenceservice: 'InferenceService',
  inferenceservices: 'InferenceService',
  irep: 'InferenceReplica',
  ir: 'InferenceReplica',
  inferencereplica: 'InferenceReplica',
  inferencereplicas: 'InferenceReplica',
};

/**
 * Reads `TYPE/NAME` or `TYPE NAME` from the beginning of `words`; `rest` is what follows.
 *
 * @throws Problem when there is no such type, or no name.
 */
export function targetOf(given: readonly string[]): { readonly target: Target; readonly rest: readonly string[] } {
  const [first = '', ...others] = given;
  const slash = first.indexOf('/');
  const [typeWord, name, rest] =
    slash >= 0 ? [first.slice(0, slash), first.slice(slash + 1), others] : [first, others[0] ?? '', others.slice(1)];
  const kind = words[typeWord.toLowerCase().replace(/\.ome\.io$/, '')];
  if (kind === undefined) {
    throw new Problem(`"${typeWord}" is no type that this command knows: write isvc/NAME or irep/NAME`);
  }
  if (name === '') throw new Problem(`the name of the ${kind} is missing: write ${typeWord}/NAME`);
  return { target: { kind, name }, rest };
}

export function typeOf(kind: Target['kind']): ResourceType {
  return kind === 'InferenceService' ? inferenceServiceType : inferenceReplicaType;
}

/** `isvc/chat`, as people write it. */
export function shortTarget(target: Target): string {
  return `${target.kind === 'InferenceService' ? 'isvc' : 'irep'}/${target.name}`;
}
