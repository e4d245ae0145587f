import { describe, expect, it } from '@jest/globals';
import { createLog } from './logger.js';

function linesOf(level: 'info' | 'debug'): { readonly log: ReturnType<typeof createLog>; readonly lines: unknown[] } {
  const lines: unknown[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { log: createLog(level, { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) }, destination), lines };
}

describe('a log line', () => {
  it('carries level, time, text and the caller’s fields, and nothing else', () => {
    const { log, lines } = linesOf('info');
    log('warn', 'Instance 0 is Failed', { controller: 'inferencereplica', namespace: 'lab', name: 'chat-engine' });
    expect(lines).toEqual([
      {
        level: 'warn',
        ts: '2026-01-02T03:04:05.678Z',
        controller: 'inferencereplica',
        namespace: 'lab',
        name: 'chat-engine',
        msg: 'Instance 0 is Failed',
      },
    ]);
  });

  it('is left out below the level', () => {
    const { log, lines } = linesOf('info');
    log('debug', 'a detail', {});
    expect(lines).toEqual([]);
    const all = linesOf('debug');
    all.log('debug', 'a detail', {});
    expect(all.lines).toHaveLength(1);
  });
});
