import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '@omenative/engine';
import { Inbox } from './inbox.js';

function one(as: Outcome['as'], at: number): ReadonlyMap<string, Outcome> {
  return new Map([['k', { as, at, detail: '' }]]);
}

describe('Inbox', () => {
  it('counts how often an effect ended the same way in a row', () => {
    const inbox = new Inbox();
    const repeats: (number | undefined)[] = [];
    for (const as of ['quota', 'quota', 'ok', 'quota'] as const) {
      inbox.book('u', one(as, 10), 10);
      repeats.push(inbox.of('u').get('k')?.repeats);
    }
    expect(repeats).toEqual([1, 2, 1, 1]);
  });

  it('keeps what other effects came to, for ten minutes', () => {
    const inbox = new Inbox();
    inbox.book('u', one('quota', 10), 10);
    inbox.book('u', new Map([['l', { as: 'ok', at: 600, detail: '' }]]), 600);
    expect([...inbox.of('u').keys()]).toEqual(['k', 'l']);
    inbox.book('u', new Map([['m', { as: 'ok', at: 611, detail: '' }]]), 611);
    expect([...inbox.of('u').keys()]).toEqual(['l', 'm']);
  });

  it('tells replicas apart, and forgets them', () => {
    const inbox = new Inbox();
    inbox.book('u', one('ok', 10), 10);
    expect(inbox.of('v').size).toBe(0);
    inbox.forget('u');
    expect(inbox.of('u').size).toBe(0);
  });
});
