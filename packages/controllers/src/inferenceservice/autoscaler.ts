/** Who owns the count of a component's Instances. */
import { asRecord, asText, type JsonRecord } from '../shared/json.js';

export const autoscalerClasses = ['HPA', 'KEDA', 'External', 'None'] as const;
export type AutoscalerClass = (typeof autoscalerClasses)[number];

export interface ResolvedAutoscaler {
  /** What is asked for; `HPA` when nobody asks for anything. */
  readonly asked: AutoscalerClass;
  /** The block to project; absent while its class is not run by this release. */
  readonly block?: JsonRecord;
  /** Who writes the count: this controller holds `minReplicas`, or somebody else may set any. */
  readonly countOwner: 'controller' | 'other';
  readonly source: 'isvc' | 'runtime' | 'default';
}

/** `own` and `runtime` are the component on either side; a block is taken whole from the first that has one. */
export function resolveAutoscaler(own: JsonRecord, runtime: JsonRecord): ResolvedAutoscaler {
  const source = isBlock(own['autoscaler']) ? 'isvc' : isBlock(runtime['autoscaler']) ? 'runtime' : 'default';
  const block = asRecord(source === 'isvc' ? own['autoscaler'] : source === 'runtime' ? runtime['autoscaler'] : {});
  const asked = autoscalerClasses.find((name) => name === asText(block['class'])) ?? 'HPA';
  switch (asked) {
    case 'External':
      return { asked, block, countOwner: 'other', source };
    case 'None':
      return { asked, block, countOwner: 'controller', source };
    case 'HPA':
    case 'KEDA':
      return { asked, countOwner: 'controller', source };
  }
}

/** Whether what is asked for is not what happens. */
export function isUnserved(autoscaler: ResolvedAutoscaler): boolean {
  return autoscaler.block === undefined;
}

function isBlock(value: unknown): boolean {
  return asText(asRecord(value)['class']) !== '';
}
