/** Where a controller says what it did: one line a change of state, none for a pass that changed nothing. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Must not throw. `fields` are the line's own members, such as `namespace` and `name`. */
export type Log = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;
