/**
 * `status.instanceStatusColumns`: the same rows turned on their side. A column groups the Instances that share a value, so
 * that a thousand alike cost as much as one; what cannot be grouped is an entry.
 */
import { announced, instanceOperation, instancePhase, instanceTermination } from './instance-status.js';
import { condition } from './kubernetes.js';
import {
  about,
  int32,
  int64,
  list,
  listMap,
  named,
  object,
  rule,
  type StructuralSchema,
  str,
  time,
  withRules,
} from './schema.js';

/** A set of indexes such as `0-3,7`: ascending, apart from each other, without leading zeros. */
const indexSet: StructuralSchema = str({
  minLength: 1,
  pattern: '^(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?(,(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?)*$',
});

function column(name: string, value: StructuralSchema): StructuralSchema {
  return list(named(name, object({ value, indexes: indexSet }, ['value', 'indexes'])), { minItems: 1 });
}

const revisions = column('RevisionColumn', str({ minLength: 1 }));
const podCounts = column('PodCountColumn', int32({ minimum: 1 }));

const entry = named(
  'InstanceEntry',
  withRules(
    object(
      {
        index: int32({ minimum: 0 }),
        conditions: listMap(condition, ['type'], { minItems: 1 }),
        readySince: time(),
        operation: instanceOperation,
        lastFailure: instanceTermination,
        announced: { ...announced, minItems: 1 },
      },
      ['index'],
    ),
    rule(
      'has(self.conditions) || has(self.readySince) || has(self.operation) || has(self.lastFailure) || has(self.announced)',
      'an entry must carry at least one of conditions, readySince, operation, lastFailure, or announced',
    ),
  ),
);

/** `status.instanceStatusColumns`. */
export const instanceColumns: StructuralSchema = named(
  'InstanceStatusColumns',
  object(
    {
      members: about('The indexes of all rows.', indexSet),
      rowOrder: about('The order of the rows, when it is not ascending.', list(int32({ minimum: 0 }), { minItems: 1 })),
      phases: column('PhaseColumn', instancePhase),
      runningRevisions: revisions,
      targetRevisions: revisions,
      incarnations: column(
        'IncarnationColumn',
        withRules(int64(), rule('self != 0', 'an incarnation group value must be nonzero; zero is the absent default')),
      ),
      podCounts,
      servingPodCounts: podCounts,
      availablePodCounts: podCounts,
      admitted: indexSet,
      activeOrdinalOne: indexSet,
      entries: list(entry, { minItems: 1 }),
    },
    ['members', 'phases'],
  ),
);
