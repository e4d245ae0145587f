/** What the steps expect, in terms of what was watched. */
import type { PodSeen } from './records.js';
import type { Expectation } from './step.js';
import type { Traffic } from './traffic.js';
import type { Witness } from './witness.js';

/** Pods of one Instance. */
export type Shape = 'one pod each' | 'a leader and two workers each';

const members: Readonly<Record<Shape, readonly string[]>> = {
  'one pod each': ['default'],
  'a leader and two workers each': ['leader', 'worker', 'worker'],
};

/** Exactly so many Instances, all Ready, complete and in rotation, and an InferenceService that says so. */
export function readyInstances(witness: Witness, service: string, count: number, shape: Shape): Expectation {
  const replica = `${service}-engine`;
  const states = (): readonly string[] => [...(witness.replica(replica)?.instances.values() ?? [])];
  const isWhole = (index: number): boolean => {
    const pods = witness.podsOf(replica).filter((pod) => pod.instance === `${replica}/${index}`);
    const runners = pods.filter(isInRotation).map(({ runner }) => runner);
    return pods.length === members[shape].length && runners.toSorted().join() === members[shape].join();
  };
  return {
    expected: `${service}: ${count} Instances Ready, ${shape}`,
    seen: () => `Instances ${states().join(', ') || 'none'}; pods ${describePods(witness.podsOf(replica))}`,
    isMet: () =>
      witness.service(service)?.ready === 'True' &&
      states().length === count &&
      states().every((state) => state === 'Ready') &&
      Array.from({ length: count }, (_, index) => index).every(isWhole),
  };
}

/** The Service sends requests to exactly these pods. */
export function routed(witness: Witness, service: string, pods: readonly string[]): Expectation {
  return {
    expected: `Service ${service} sends requests to ${pods.join(', ')}`,
    seen: () => witness.routedBy(service).join(', ') || 'nowhere',
    isMet: () => witness.routedBy(service).join() === pods.toSorted().join(),
  };
}

export function entersTogether(witness: Witness, service: string, size: number): Expectation {
  const early = (): readonly string[] => witness.ledger.earlyEntries(service, size);
  return {
    expected: `no leader got requests before the gates of all ${size} pods of its gang were open`,
    seen: () => `too early: ${early().join(', ')}`,
    isMet: () => early().length === 0,
  };
}

/** Never more pods at once than this since the step began. */
export function atMostPods(witness: Witness, service: string, most: number): Expectation {
  const seen = (): number => witness.ledger.mostAtOnce(`${service}-engine`);
  return {
    expected: `never more than ${most} pods at once`,
    seen: () => `${seen()} pods at once`,
    measured: () => `there were ${seen()}`,
    isMet: () => seen() <= most,
  };
}

/** All pods of the service run this image. */
export function allRun(witness: Witness, service: string, image: string): Expectation {
  const pods = (): readonly PodSeen[] => witness.podsOf(`${service}-engine`);
  return {
    expected: `${service}: every pod runs ${image}`,
    seen: () =>
      pods()
        .map((pod) => `${pod.name} runs ${pod.image}`)
        .join(', '),
    isMet: () => pods().every((pod) => pod.image === image),
  };
}

/** At least so many requests since the step began. */
export function sent(traffic: Traffic, least: number): Expectation {
  return {
    expected: `${least} requests were sent`,
    seen: () => `${traffic.period.sent} requests were sent`,
    isMet: () => traffic.period.sent >= least,
  };
}

/** Each of these pods answered some requests since the step began. */
export function answered(traffic: Traffic, pods: readonly string[]): Expectation {
  return {
    expected: `requests were answered by ${pods.join(', ')}`,
    seen: () => `requests were answered by ${[...traffic.period.answeredBy].join(', ') || 'nobody'}`,
    isMet: () => pods.every((pod) => traffic.period.answeredBy.has(pod)),
  };
}

/** No request since the step began failed, or had nowhere to go. */
export function noneFailed(traffic: Traffic): Expectation {
  const failed = (): number => traffic.period.failed + traffic.period.unrouted;
  return {
    expected: 'no request failed',
    seen: () => `${failed()} of ${traffic.period.sent} requests failed`,
    measured: () => `of ${traffic.period.sent}`,
    isMet: () => failed() === 0,
  };
}

/** No request since the step began reached a pod that had ended; there may have been nobody to send it to. */
export function noneDropped(traffic: Traffic): Expectation {
  return {
    expected: 'no request was dropped by a pod that ended',
    seen: () => `${traffic.period.failed} of ${traffic.period.sent} requests reached a pod that had ended`,
    isMet: () => traffic.period.failed === 0,
  };
}

export function nothingLeft(witness: Witness): Expectation {
  return {
    expected: 'nothing is left of the InferenceServices',
    seen: () => `still there: ${witness.leftovers().join(', ')}`,
    isMet: () => witness.leftovers().length === 0,
  };
}

function isInRotation(pod: PodSeen): boolean {
  return pod.stage === 'live' && pod.gate === 'open';
}

function describePods(pods: readonly PodSeen[]): string {
  return pods.map(({ name, stage, gate }) => `${name} (${stage}, gate ${gate})`).join(', ') || 'none';
}
