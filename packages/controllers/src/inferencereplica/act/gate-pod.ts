/**
 * Adds a hold to a pod's serving gate, or takes one back. Both name the version they were worked out from: a list that
 * another writer has changed meanwhile is read again, never overwritten.
 */
import { formatTime } from '@omenative/api';
import type { GatePod } from '@omenative/engine';
import { classify, mayHaveBeenApplied, podConditionPatch } from '@omenative/kube';
import type { JsonRecord } from '../../shared/json.js';
import { podType } from '../../shared/resources.js';
import { gateStep } from '../gate.js';
import { gateConditionsOf, podRecordOf } from '../pod-view.js';
import type { ActContext } from './context.js';
import { instanceOf, podNameOf } from './instance.js';
import { done, type Result, resultOf } from './outcome.js';

/** How often one change is worked out anew after a conflict. */
const maxTries = 4;

interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly gateConditions: readonly JsonRecord[];
}

export async function gatePod(context: ActContext, effect: GatePod): Promise<Result> {
  let version: Version | 'gone' | undefined = cachedVersion(context, effect);
  for (let attempt = 1; ; attempt++) {
    if (version === 'gone' || (version !== undefined && version.uid !== effect.pod.uid)) {
      return { as: 'conflict', detail: `pod ${effect.pod.name} of UID ${effect.pod.uid} is gone` };
    }
    const result = version === undefined ? undefined : await patch(context, effect, version);
    if (result !== undefined && (result.as !== 'conflict' || attempt >= maxTries)) return result;
    const live = await liveVersion(context, effect);
    if ('as' in live) return live;
    version = live.version;
  }
}

async function patch(context: ActContext, effect: GatePod, version: Version): Promise<Result> {
  const now = formatTime(Math.floor(context.runtime.nowMs() / 1000));
  const step = gateStep(version.gateConditions, effect, now);
  switch (step.step) {
    case 'none':
      return done;
    case 'refuse':
      return {
        as: 'invalid',
        detail: `condition ome.io/serving of pod ${effect.pod.name} lists its holds unreadably (${step.message}): set its message to a JSON list of {userAgent, key}`,
      };
    case 'patch': {
      const { client, caches, ownWrites } = context;
      const instance = instanceOf(context, effect);
      const name = podNameOf(context, effect.pod);
      const identity = { uid: version.uid, resourceVersion: version.resourceVersion };
      try {
        const reply = await client.patch(podType, name, podConditionPatch(identity, step.condition), {
          subresource: 'status',
        });
        caches.pods.takeIn(reply);
        ownWrites.answered(instance, reply.metadata?.resourceVersion ?? '');
        return done;
      } catch (error) {
        if (mayHaveBeenApplied(error)) ownWrites.lost(instance, name);
        // A pod that has gone can't be let in, and needs no taking out.
        if (classify(error) === 'notFound' && effect.change === 'remove') return { ...resultOf(error), as: 'conflict' };
        return resultOf(error);
      }
    }
  }
}

function cachedVersion(context: ActContext, effect: GatePod): Version | undefined {
  const { namespace, name } = podNameOf(context, effect.pod);
  const pod = context.caches.pods.store.get(`${namespace}/${name}`);
  if (pod === undefined) return undefined;
  return { uid: pod.meta.uid, resourceVersion: pod.meta.resourceVersion, gateConditions: pod.gateConditions };
}

async function liveVersion(
  context: ActContext,
  effect: GatePod,
): Promise<Result | { readonly version: Version | 'gone' }> {
  try {
    const raw = await context.client.get(podType, podNameOf(context, effect.pod));
    context.caches.pods.takeIn(raw);
    const { uid, resourceVersion } = podRecordOf(raw).meta;
    return { version: { uid, resourceVersion, gateConditions: gateConditionsOf(raw) } };
  } catch (error) {
    return classify(error) === 'notFound' ? { version: 'gone' } : { ...resultOf(error), as: 'transient' };
  }
}
