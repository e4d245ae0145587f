/** What a command can't do, in a sentence for the person who gave it. */

/** Printed as `error: <message>`; the process then ends with `exitCode`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** 1: an error or a refusal. 2: an assertion that does not hold. 3: a conflict. */
  readonly exitCode: 1 | 2 | 3;

  constructor(message: string, exitCode: 1 | 2 | 3 = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A remark on a report that is not wrong and not whole. `code` is stable, `message` is for people. */
export interface Remark {
  readonly code:
    | 'ConfigUnreadable'
    | 'ConfigKeyRejected'
    | 'NodesUnreadable'
    | 'EventsUnreadable'
    | 'StatusStale'
    | 'RenderDiffers'
    | 'RehearsalCut'
    | 'DocumentSkipped';
  readonly message: string;
}
