import { describe, expect, it } from '@jest/globals';
import type { Hold } from '@omenative/engine';
import { Waits } from './waits.js';

const wake = [{ user: 'spec' }] as const;
const stray: Hold = { is: 'Stray', text: 'pod x has no index', wake };
const starting: Hold = { is: 'Starting', index: 3, text: 'Instance 3 is starting', wake };
const budget: Hold = { is: 'Budget', target: 'chat-engine-0123abcd', text: 'budget 0 exhausted', wake };

describe('a wait', () => {
  it('is told when it begins, and not again while it stands [B03]', () => {
    const waits = new Waits();
    expect(waits.begun('uid', [stray])).toHaveLength(1);
    expect(waits.begun('uid', [stray])).toEqual([]);
    expect(waits.begun('uid', [])).toEqual([]);
    expect(waits.begun('uid', [stray])).toHaveLength(1);
  });

  it('is a warning and an Event when somebody must do something', () => {
    expect(new Waits().begun('uid', [stray])).toEqual([
      {
        level: 'warn',
        text: 'pod x has no index',
        fields: { hold: 'Stray' },
        event: {
          reason: 'Waiting',
          type: 'Warning',
          episode: 'Stray//pod x has no index',
          text: 'Stray: pod x has no index',
        },
      },
    ]);
  });

  it('is a line for the curious when it ends by itself, whatever its words become', () => {
    const waits = new Waits();
    expect(waits.begun('uid', [starting])).toEqual([
      { level: 'debug', text: 'Instance 3 is starting', fields: { hold: 'Starting', instance: 3 } },
    ]);
    expect(waits.begun('uid', [{ ...starting, text: 'Instance 3 is starting: one container left' }])).toEqual([]);
  });

  it('has no second Event when its own was told where it arose', () => {
    expect(new Waits().begun('uid', [budget])).toMatchObject([{ level: 'info' }]);
    expect(new Waits().begun('uid', [budget])[0]).not.toHaveProperty('event');
  });

  it('of one replica says nothing of another, and is forgotten with it', () => {
    const waits = new Waits();
    waits.begun('uid', [stray]);
    expect(waits.begun('other', [stray])).toHaveLength(1);
    waits.forget('uid');
    expect(waits.begun('uid', [stray])).toHaveLength(1);
  });
});
