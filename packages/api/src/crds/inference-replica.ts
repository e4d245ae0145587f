/** `InferenceReplica`: one set of Instances of the same templates, projected from a service or standing alone. */
import { autoscaler } from './autoscaling.js';
import { type CustomResourceDefinition, defineResource } from './definition.js';
import { trafficTargets } from './inference-service-status.js';
import { instanceColumns } from './instance-columns.js';
import { instanceRolloutHold, instanceRows, migration, retryBlock } from './instance-status.js';
import { conditions, podTemplate } from './kubernetes.js';
import { lifecycle } from './lifecycle.js';
import { modelRef, runtimeRef } from './references.js';
import { pairingProtocol } from './rollout.js';
import {
  about,
  bool,
  int32,
  int64,
  intOrString,
  listMap,
  named,
  object,
  oneOf,
  rule,
  type StructuralSchema,
  str,
  type ValidationRule,
  withRules,
} from './schema.js';

const runnerTemplate = named(
  'RunnerTemplate',
  withRules(
    object(
      {
        name: about(
          'default for single-pod Instances; leader and worker for multi-pod ones.',
          oneOf('default', 'leader', 'worker'),
        ),
        size: about('Pods of this runner in an Instance; 1 for default and leader.', int32({ minimum: 1 })),
        template: about('The pods, as they are created.', podTemplate),
      },
      ['name', 'size', 'template'],
    ),
    rule(
      "self.name == 'worker' || self.size == 1",
      'size of a default or leader runner must be 1; more pods of an Instance are the size of its worker runner',
    ),
  ),
);

const runners = withRules(
  listMap(runnerTemplate, ['name'], { maxItems: 3 }),
  rule(
    "self.size() == 0 || (self.size() == 1 ? self[0].name == 'default' : self.size() == 2 && !self.exists(r, r.name == 'default'))",
    'runners must be one named default, or two named leader and worker',
  ),
);

const digest = str({ maxLength: 64, pattern: '^[a-f0-9]{64}$' });

const placementExecution = named(
  'PlacementExecution',
  object(
    {
      planID: str(),
      revision: int64({ minimum: 1 }),
      sourceUID: str(),
      clusterUID: str(),
      pauseSurge: bool(),
      demand: named(
        'PlacementDemand',
        object(
          {
            fingerprint: digest,
            components: listMap(
              named(
                'PlacementDemandComponent',
                object({ component: oneOf('engine', 'decoder'), renderingHash: digest }, [
                  'component',
                  'renderingHash',
                ]),
              ),
              ['component'],
              { minItems: 1, maxItems: 2 },
            ),
          },
          ['fingerprint', 'components'],
        ),
      ),
      replicaFloors: listMap(
        named(
          'ExecutionReplicaFloor',
          object({ component: oneOf('engine', 'decoder', 'router'), replicas: int32({ minimum: 0 }) }, [
            'component',
            'replicas',
          ]),
        ),
        ['component'],
        { minItems: 1, maxItems: 3 },
      ),
    },
    ['planID', 'revision', 'sourceUID', 'clusterUID', 'pauseSurge'],
  ),
);

const projected = 'has(self.parentRef)';
const hasRunners = '(has(self.runners) && self.runners.size() > 0)';

/** CEL: how many Instances the spec that `of` gives runs. */
const wanted = (of: string): string => `(has(${of}.replicas) && ${of}.replicas > 0 ? ${of}.replicas : 1)`;
const old = 'oldSelf.value()';
const samePartition = `(oldSelf.hasValue() && has(${old}.pacing) && has(${old}.pacing.partition) && ${old}.pacing.partition == self.pacing.partition)`;

/**
 * An HPA scales a projected replica through the scale subresource while a canary holds a partition that only the
 * controller may lower: there only a new partition is judged. A standalone replica's user owns both numbers. Rules that
 * read oldSelf are not ratcheted by the API server, so this one says itself that what was wrong before may stay.
 */
const partitionFits: ValidationRule = {
  rule: `!has(self.pacing) || !has(self.pacing.partition) || self.pacing.partition <= ${wanted('self')} || (${samePartition} && (${projected} || ${wanted('self')} == ${wanted(old)}))`,
  optionalOldSelf: true,
  message:
    'spec.pacing.partition must be <= spec.replicas; an over-partition silently holds every Instance back forever',
};

const spec = named(
  'InferenceReplicaSpec',
  withRules(
    object(
      {
        component: about(
          'Role of these pods; cannot be changed.',
          withRules(
            oneOf('engine', 'decoder', 'router'),
            rule('self == oldSelf', 'spec.component is immutable; delete the InferenceReplica and create another one'),
          ),
        ),
        parentRef: about(
          'The InferenceService this replica is projected from; absent on a standalone one.',
          named('ParentRef', object({ name: str({ minLength: 1, maxLength: 253 }) }, ['name'])),
        ),
        replicas: about('Instances to run; 0 and unset run one.', int32({ minimum: 0 })),
        runners: about('The pod templates of an Instance; instead of modelRef and runtimeRef.', runners),
        modelRef: about('Model to render the pods from; instead of runners.', modelRef),
        runtimeRef: about('Runtime to render the pods from; instead of runners.', runtimeRef),
        lifecycle: about('How Instances are updated, repaired and moved.', lifecycle),
        minReadySeconds: about('Seconds a pod must stay Ready before it counts as Available.', int32({ minimum: 0 })),
        topologyKey: about('Node label that all pods of an Instance must share.', str()),
        topologySpread: about('Whether Instances are spread over fault domains.', oneOf('Preferred', 'Required')),
        topologySpreadKey: about('Node label of the fault domain; unset means topologyKey.', str()),
        pairingProtocol,
        pacing: about(
          'How far a rollout may go.',
          named(
            'PacingSpec',
            object({
              partition: about('How many of the lowest Instances stay on their revision.', int32({ minimum: 0 })),
              maxUnavailable: about('Accepted for compatibility; has no effect.', intOrString()),
              rollbackToRevision: about('ControllerRevision that every Instance returns to.', str()),
            }),
          ),
        ),
        paused: about('Start and advance no creation, update or migration.', bool()),
        pauseMode: about('While paused: Recover still repairs Instances, Freeze does not.', oneOf('Recover', 'Freeze')),
        autoscaler: about('Who scales this replica.', autoscaler),
        revisionHistoryLimit: about('ControllerRevisions kept beside those in use.', int32({ minimum: 1 })),
        placementExecution: about('Multi-cluster; written by the controller.', placementExecution),
        placementReplicaLimit: about('Multi-cluster; written by the controller.', int32({ minimum: 1 })),
      },
      ['component'],
    ),
    {
      rule: 'has(self.parentRef) == has(oldSelf.parentRef) && (!has(self.parentRef) || self.parentRef.name == oldSelf.parentRef.name)',
      message: 'spec.parentRef is immutable; delete the InferenceReplica and create another one',
    },
    rule(
      `${hasRunners} != (has(self.modelRef) || has(self.runtimeRef))`,
      'exactly one template source is needed: either spec.runners, or spec.modelRef and/or spec.runtimeRef',
    ),
    rule(
      '!has(self.runtimeRef) || (!has(self.runtimeRef.revision) && (!has(self.runtimeRef.autoSync) || self.runtimeRef.autoSync))',
      'spec.runtimeRef cannot pin a revision; remove spec.runtimeRef.revision and write autoSync: true',
    ),
    rule(
      `${projected} || !has(self.lifecycle) || !has(self.lifecycle.minReadySeconds)`,
      'spec.lifecycle.minReadySeconds is not read on a standalone InferenceReplica; write spec.minReadySeconds',
    ),
    rule(
      `${projected} || !has(self.autoscaler) || !(self.autoscaler.class in ['HPA', 'KEDA'])`,
      'spec.autoscaler.class HPA and KEDA need an InferenceService; on a standalone InferenceReplica write External or None and scale it through its scale subresource',
    ),
    rule(
      `${projected} || (!has(self.placementExecution) && !has(self.placementReplicaLimit))`,
      'spec.placementExecution and spec.placementReplicaLimit are written only by the InferenceService controller; remove them',
    ),
    partitionFits,
  ),
);

/** The `status` of an InferenceReplica. */
export const inferenceReplicaStatus: StructuralSchema = named(
  'InferenceReplicaStatus',
  withRules(
    object({
      observedGeneration: about('The generation this status speaks of.', int64()),
      placementObservedGeneration: int64({ minimum: 1 }),
      replicas: about('Instances in any phase.', int32()),
      readyReplicas: about('Instances whose pods are all Ready.', int32()),
      servingReplicas: about('Instances whose pods are all in rotation.', int32()),
      availableReplicas: about('Instances whose pods are all Available.', int32()),
      updatedReplicas: about('Instances on updateRevision.', int32()),
      updatedReadyReplicas: about('Instances on updateRevision whose pods are all Ready.', int32()),
      currentRevision: about('The ControllerRevision that serves.', str()),
      updateRevision: about('The ControllerRevision that is rolled out.', str()),
      collisionCount: int32(),
      labelSelector: about('Selects one pod an Instance; read by the scale subresource.', str()),
      instanceStatuses: about('The Instances, one row each.', instanceRows),
      instanceStatusEncoding: about('How the rows are stored; absent means instanceStatuses.', oneOf('ColumnarV2')),
      instanceStatusColumns: about('The Instances, grouped by value.', instanceColumns),
      retryBlocks: about('Revisions that failed and wait.', listMap(retryBlock, ['targetRevision'])),
      migrations: listMap(migration, ['requestUUID']),
      conditions,
      traffic: trafficTargets,
      coordinationGroupRef: str(),
      rolloutHold: about('Why the last update was held.', instanceRolloutHold),
    }),
    rule(
      'has(self.instanceStatusEncoding) || !has(self.instanceStatusColumns)',
      'instanceStatusColumns requires instanceStatusEncoding; an unmarked status carries only instanceStatuses',
    ),
    rule(
      '!has(self.instanceStatusEncoding) || (has(self.instanceStatusColumns) && !has(self.instanceStatuses))',
      'instanceStatusEncoding: ColumnarV2 requires instanceStatusColumns and forbids instanceStatuses',
    ),
  ),
);

/** The `InferenceReplica` resource. */
export const inferenceReplica: CustomResourceDefinition = defineResource({
  kind: 'InferenceReplica',
  plural: 'inferencereplicas',
  shortNames: ['irep'],
  scope: 'Namespaced',
  description: 'A set of Instances of the same pod templates.',
  spec,
  status: inferenceReplicaStatus,
  specHint: 'write spec.component and spec.runners, or spec.modelRef and spec.runtimeRef',
  rules: [
    {
      rule: "oldSelf.hasValue() || !has(self.spec) || has(self.spec.parentRef) || (self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
      optionalOldSelf: true,
      message:
        'metadata.name of a standalone InferenceReplica is the prefix of its pod and Service names; it must match "[a-z]([-a-z0-9]*[a-z0-9])?" and have at most 63 characters',
    },
  ],
  columns: [
    { name: 'Component', type: 'string', jsonPath: '.spec.component' },
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Current', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.labelSelector',
  },
});
