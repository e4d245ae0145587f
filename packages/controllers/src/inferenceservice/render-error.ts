/** Why a component cannot be turned into pods. */

/** The reason of the component's condition and of the Warning event. */
export type RenderReason = 'RuntimePieceMissing' | 'RenderFailed' | 'InvalidLeaderWorkerPairing' | 'ReadyPolicyInvalid';

/** The message is a sentence for people: what is wrong with which field, and what to write instead. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: RenderReason;

  constructor(reason: RenderReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
