import { describe, expect, it } from '@jest/globals';
import { replicaRecordOf } from '../inferencereplica/replica-record.js';
import { type AutoscalerClass, resolveAutoscaler } from './autoscaler.js';
import { countReset } from './count.js';
import { type DesiredReplica, desiredReplica, newReplica } from './replica.js';
import { serviceOf, settingsOf } from './testing/objects.js';

function wanted(minReplicas: number, autoscalerClass?: AutoscalerClass, generation = 7): DesiredReplica {
  const engine = { minReplicas, ...(autoscalerClass === undefined ? {} : { autoscaler: { class: autoscalerClass } }) };
  return desiredReplica({
    service: serviceOf({ engine }, { generation }),
    component: 'engine',
    runtime: {},
    runners: [],
    autoscaler: resolveAutoscaler(engine, {}),
    settings: settingsOf(),
  });
}

/** The replica as projected, and then scaled by somebody. */
function scaled(projected: DesiredReplica, replicas: number | undefined): ReturnType<typeof replicaRecordOf> {
  const object = newReplica(projected);
  return replicaRecordOf({ ...object, spec: { ...projected.spec, replicas } });
}

describe('a replica that somebody scaled', () => {
  it.each([undefined, 'None', 'HPA', 'KEDA'] as const)(
    'is set back, and where the count comes from is told: class %s',
    (name) => {
      const projected = wanted(2, name);
      expect(countReset(projected, scaled(projected, 5))).toBe(
        'spec.replicas of InferenceReplica chat-engine is set from 5 to 2: the count is spec.engine.minReplicas of the ' +
          'InferenceService: set that, or set spec.engine.autoscaler.class to External to scale the replica itself',
      );
    },
  );

  it('is left alone with class External, but not at zero', () => {
    const projected = wanted(2, 'External');
    expect(countReset(projected, scaled(projected, 5))).toBeUndefined();
    expect(countReset(projected, scaled(projected, 0))).toBe(
      'spec.replicas of InferenceReplica chat-engine is set from 0 to 2: a component has one Instance at least',
    );
  });

  it('is nothing to tell when the count is right, missing, or follows a change of the InferenceService', () => {
    const projected = wanted(2);
    expect(countReset(projected, scaled(projected, 2))).toBeUndefined();
    expect(countReset(projected, scaled(projected, undefined))).toBeUndefined();
    expect(countReset(wanted(3, 'None', 8), scaled(projected, 2))).toBeUndefined();
  });
});
