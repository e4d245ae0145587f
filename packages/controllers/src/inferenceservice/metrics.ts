/** What can be measured about this controller, for whoever publishes it. */

export interface ServiceMetrics {
  /** One pass over one InferenceService. */
  passFinished(result: 'success' | 'requeue' | 'error', durationMs: number): void;
}

/** Measures nothing. */
export const noServiceMetrics: ServiceMetrics = {
  passFinished() {},
};
