import { describe, expect, it } from '@jest/globals';
import { eventNews, instanceNews, podNews, rotationNews, serviceNews } from './news.js';
import type { PodSeen, ReplicaSeen, ServiceSeen } from './records.js';

const fresh: PodSeen = {
  name: 'chat-engine-0-default-0',
  uid: 'u',
  resourceVersion: '1',
  replica: 'chat-engine',
  instance: 'chat-engine/0',
  runner: 'default',
  image: 'v1',
  node: '',
  containers: 'not ready',
  gate: 'shut',
  stage: 'live',
};
const bound: PodSeen = { ...fresh, node: 'node-1' };
const ready: PodSeen = { ...bound, containers: 'ready' };
const open: PodSeen = { ...ready, gate: 'open' };
const leaving: PodSeen = { ...open, gate: 'shut' };
const terminating: PodSeen = { ...leaving, stage: 'terminating' };
const ended: PodSeen = { ...terminating, stage: 'ended', containers: 'not ready' };

function replica(instances: Readonly<Record<number, string>>): ReplicaSeen {
  const entries = Object.entries(instances).map(([index, state]) => [Number(index), state] as const);
  return { name: 'chat-engine', instances: new Map(entries), statusText: '' };
}

function service(readiness: string): ServiceSeen {
  return { name: 'chat', ready: readiness, reason: 'Waiting' };
}

describe('podNews', () => {
  it.each<[PodSeen | undefined, PodSeen | undefined, string | undefined]>([
    [undefined, fresh, 'created'],
    [fresh, bound, 'starting on a node'],
    [bound, ready, 'containers ready, gate shut'],
    [ready, open, 'gate opened'],
    [open, { ...open, resourceVersion: '2' }, undefined],
    [open, leaving, 'gate shut: leaves rotation'],
    [leaving, terminating, 'told to end, finishes its requests'],
    [terminating, ended, 'ended'],
    [ended, undefined, 'gone'],
  ])('follows the life of a pod, step %#', (before, now, news) => {
    expect(podNews(before, now)).toBe(news);
  });
});

describe('instanceNews', () => {
  it('tells of each Instance that is at something else', () => {
    const before = replica({ 0: 'Ready', 1: 'Creating', 2: 'Deleting' });
    const now = replica({ 0: 'Ready', 1: 'Ready', 3: 'Creating' });
    expect(instanceNews(before, now).map(({ name, what }) => `${name} ${what}`)).toEqual([
      'chat-engine/1 Creating → Ready',
      'chat-engine/2 Deleting → gone',
      'chat-engine/3 Creating',
    ]);
  });

  it('tells that all are gone with their replica', () => {
    expect(instanceNews(replica({ 0: 'Deleting' }), undefined).map(({ what }) => what)).toEqual(['Deleting → gone']);
  });
});

describe('other news', () => {
  it('tells of a service when its readiness turns', () => {
    expect(serviceNews(undefined, service(''))).toBeUndefined();
    expect(serviceNews(service(''), service('False'))).toBe('not Ready: Waiting');
    expect(serviceNews(service('False'), service('False'))).toBeUndefined();
    expect(serviceNews(service('False'), service('True'))).toBe('Ready');
    expect(serviceNews(service('True'), undefined)).toBe('gone');
  });

  it('puts the Instance that an Event names before its words', () => {
    const event = { component: 'm', about: 'chat', reason: 'InstanceReady' };
    const message = 'OMENative component=engine instance=2: ready at revision x';
    expect(eventNews({ ...event, message })).toEqual({
      topic: 'event',
      name: 'chat-engine/2',
      what: 'InstanceReady: ready at revision x',
    });
    expect(eventNews({ ...event, message: 'something else' })).toMatchObject({
      name: 'chat',
      what: 'InstanceReady: something else',
    });
  });

  it('names the pods that get requests', () => {
    expect(rotationNews(['a', 'b'])).toBe('sends requests to a, b');
    expect(rotationNews([])).toBe('sends requests nowhere');
  });
});
