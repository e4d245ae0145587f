/** What a change of a watched object means to a person: at most one sentence each. */
import type { EventSeen, PodSeen, ReplicaSeen, ServiceSeen } from './records.js';

/** `{names} {what}`: news of one kind that come together are told in one line. */
export interface News {
  readonly topic: 'isvc' | 'instance' | 'pod' | 'endpoints' | 'event';
  readonly name: string;
  readonly what: string;
}

/** `undefined` when nothing changed that a person would care for. */
export function podNews(before: PodSeen | undefined, now: PodSeen | undefined): string | undefined {
  if (now === undefined) return before === undefined ? undefined : 'gone';
  if (before === undefined) return 'created';
  if (before.stage !== now.stage) return now.stage === 'ended' ? 'ended' : 'told to end, finishes its requests';
  if (before.gate !== now.gate) return now.gate === 'open' ? 'gate opened' : 'gate shut: leaves rotation';
  if (before.containers !== now.containers && now.containers === 'ready') return 'containers ready, gate shut';
  if (before.node === '' && now.node !== '') return 'starting on a node';
  return undefined;
}

/** One piece of news for each Instance that is at something else than before. */
export function instanceNews(before: ReplicaSeen | undefined, now: ReplicaSeen | undefined): readonly News[] {
  const name = now?.name ?? before?.name ?? '';
  const indexes = new Set([...(before?.instances.keys() ?? []), ...(now?.instances.keys() ?? [])]);
  return [...indexes].flatMap((index): readonly News[] => {
    const was = before?.instances.get(index);
    const is = now?.instances.get(index) ?? 'gone';
    if (was === is) return [];
    return [{ topic: 'instance', name: `${name}/${index}`, what: was === undefined ? is : `${was} → ${is}` }];
  });
}

export function serviceNews(before: ServiceSeen | undefined, now: ServiceSeen | undefined): string | undefined {
  if (now === undefined) return 'gone';
  if (before?.ready === now.ready || now.ready === '') return undefined;
  return now.ready === 'True' ? 'Ready' : `not Ready: ${now.reason}`;
}

/** How Events of the manager begin that are about one Instance. */
const aboutInstance = /^OMENative component=(\S+) instance=(\d+): /;

/** An Event in its own words; the Instance that it names comes first. */
export function eventNews({ about, reason, message }: EventSeen): News {
  const [prefix = '', component, index] = aboutInstance.exec(message) ?? [];
  const name = component === undefined ? about : `${about}-${component}/${index}`;
  return { topic: 'event', name, what: `${reason}: ${message.slice(prefix.length)}` };
}

/** Which pods a Service sends requests to. */
export function rotationNews(pods: readonly string[]): string {
  return pods.length === 0 ? 'sends requests nowhere' : `sends requests to ${pods.join(', ')}`;
}
