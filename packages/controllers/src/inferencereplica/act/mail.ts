/** Takes a request of a user off the replica, once it has been acted on: the value that was read, never a newer one. */
import type { Effect } from '@omenative/engine';
import { classify, jsonPointer } from '@omenative/kube';
import { inferenceReplicaType } from '../../shared/resources.js';
import type { ActContext } from './context.js';
import { done, type Result, resultOf } from './outcome.js';

export async function ackMail(
  context: ActContext,
  effect: Extract<Effect, { readonly do: 'ackMail' }>,
): Promise<Result> {
  const { client, caches, replica } = context;
  const { namespace, name, uid } = replica.meta;
  const path = jsonPointer('metadata', 'annotations', effect.annotation);
  try {
    const reply = await client.patch(
      inferenceReplicaType,
      { namespace, name },
      {
        kind: 'json',
        body: [
          { op: 'test', path: '/metadata/uid', value: uid },
          { op: 'test', path, value: effect.value },
          { op: 'remove', path },
        ],
      },
    );
    caches.replicas.takeIn(reply);
    return done;
  } catch (error) {
    // A failed test: the request was withdrawn, or there is a new one, which the watch brings.
    return classify(error) === 'invalid' ? { as: 'gone', detail: '' } : resultOf(error);
  }
}
