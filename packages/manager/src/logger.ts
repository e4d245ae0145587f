/** Log lines as JSON on one descriptor: one a change of state, none for a pass that changed nothing. */
import type { Log } from '@omenative/controllers';
import type { Runtime } from '@omenative/kube';
import { type DestinationStream, pino } from 'pino';

/**
 * Lines carry `level`, `ts` (RFC 3339, UTC), `msg` and the caller's fields. They are written before the call returns, so
 * that the last words of a process that ends are not lost.
 */
export function createLog(
  level: 'debug' | 'info' | 'warn' | 'error',
  runtime: Pick<Runtime, 'nowMs'>,
  destination?: DestinationStream,
): Log {
  const options = {
    level,
    base: null,
    messageKey: 'msg',
    timestamp: () => `,"ts":"${new Date(runtime.nowMs()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
  return (at, message, fields) => logger[at](fields, message);
}
