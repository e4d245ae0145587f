/** What an InferenceService may not say: each mistake is refused with a text that names the field and the way out. */
import { expect, it } from '@jest/globals';
import { describeOnApiServer, messageOf } from './testing/api-server.js';

import { fronting, gang, native, rolling, rollout, type Spec, service, step } from './testing/service.js';

const plural = 'inferenceservices';
const autoscaler = (settings: Spec, more: Spec = {}): Spec => ({ engine: { autoscaler: settings, ...more } });

const probe = (more: Spec): Spec => ({
  routing: {
    probe: {
      path: '/',
      method: 'GET',
      acceptStatuses: [200],
      gateStatuses: [500],
      period: '30s',
      timeout: '5s',
      failureThreshold: 1,
      successThreshold: 1,
      allFailedPolicy: 'Drain',
      ...more,
    },
  },
});
const poll = (more: Spec): Spec => ({
  routing: {
    capacity: {
      path: '/',
      method: 'GET',
      format: 'json',
      period: '30s',
      timeout: '5s',
      samples: 3,
      quorum: 2,
      maxAge: '1m',
      ...more,
    },
  },
});

const refusals: readonly (readonly [string, Spec, string])[] = [
  ['neither a model nor a runtime', { runtime: undefined }, 'at least one of spec.model or spec.runtime must be set'],
  [
    'a leader without a worker',
    { engine: { leader: {} } },
    'InvalidLeaderWorkerPairing: spec.engine.leader and spec.engine.worker go together; add the missing one',
  ],
  [
    'a worker without a leader',
    { decoder: { worker: {} } },
    'InvalidLeaderWorkerPairing: spec.decoder.leader and spec.decoder.worker',
  ],
  [
    'a gang without workers',
    { engine: { leader: {}, worker: { size: 0 } } },
    'InvalidLeaderWorkerPairing: spec.engine.worker.size must be at least 1',
  ],
  [
    "a leader's container without a name",
    { engine: { leader: { runner: {} }, worker: {} } },
    'spec.engine.leader.runner.name: Required value',
  ],
  [
    'readyPolicy None on a gang',
    { engine: { ...gang, lifecycle: { readyPolicy: 'None' } } },
    'spec.engine.lifecycle.readyPolicy None is for single-pod Instances; with leader and worker write AllPodReady',
  ],
  [
    'both eviction budgets',
    { engine: { minAvailable: 1, maxUnavailable: 1 } },
    'spec.engine.minAvailable and spec.engine.maxUnavailable cannot both be set; keep one of them',
  ],
  [
    'an eviction budget above 100%',
    { router: { minAvailable: '101%' } },
    'spec.router.minAvailable must be a non-negative integer or a percentage from 0% to 100%',
  ],
  [
    'a negative eviction budget',
    { engine: { maxUnavailable: -1 } },
    'spec.engine.maxUnavailable must be a non-negative integer',
  ],
  ['a negative count', { engine: { minReplicas: -1 } }, 'spec.engine.minReplicas must be at least 0'],
  [
    'more at least than at most',
    { engine: { minReplicas: 3, maxReplicas: 2 } },
    'spec.engine.minReplicas must be <= maxReplicas',
  ],
  ['two budgets of nothing', rolling({ maxSurge: 0, maxUnavailable: '0%' }), 'set one of them to at least 1'],
  [
    'a budget that is no number',
    rolling({ maxSurge: 'many' }),
    'maxSurge must be a number of Instances of at least 0, or a percentage such as "25%"',
  ],
  [
    'a budget as text without a percent sign',
    rolling({ maxUnavailable: '2' }),
    'maxUnavailable must be a number of Instances',
  ],
  ['a negative budget', rolling({ maxUnavailable: -1 }), 'maxUnavailable must be a number of Instances of at least 0'],
  [
    'an unknown update strategy',
    { engine: { lifecycle: { updateStrategy: { type: 'Rolling' } } } },
    'supported values: "SurgeThenDrain", "RecreatePod", "InPlaceIfPossible", "InPlaceOnly"',
  ],
  ['an unknown deployment mode', { deploymentMode: 'MultiNode' }, 'supported values: "OMENative", "RawDeployment"'],
  [
    'an engine in another mode than its decoder',
    { engine: native, decoder: {} },
    'InvalidDeploymentModeCombination: engine deploymentMode="OMENative" does not match decoder deploymentMode=""; when either is OMENative, both must use the same value',
  ],
  [
    'a decoder that steps out of OMENative',
    { deploymentMode: 'OMENative', decoder: { annotations: { 'ome.io/deploymentMode': 'RawDeployment' } } },
    'engine deploymentMode="OMENative" does not match decoder deploymentMode="RawDeployment"',
  ],
  ['an autoscaler without a class', autoscaler({}), 'spec.engine.autoscaler.class: Required value'],
  ['an unknown autoscaler', autoscaler({ class: 'VPA' }), 'supported values: "HPA", "KEDA", "External", "None"'],
  ['KEDA without settings', autoscaler({ class: 'KEDA' }), 'KedaTriggersRequired: class KEDA needs at least 1 trigger'],
  [
    'KEDA without triggers',
    autoscaler({ class: 'KEDA', keda: { triggers: [] } }),
    'spec.engine.autoscaler.keda.triggers in body should have at least 1 items',
  ],
  [
    'an idle count that is not below the least',
    autoscaler({ class: 'KEDA', keda: { triggers: [{}], idleReplicaCount: 2 } }, { minReplicas: 2 }),
    'KedaIdleBelowMin: spec.engine.autoscaler.keda.idleReplicaCount must be below spec.engine.minReplicas',
  ],
  [
    'the reserved kind of policy',
    { engine: { autoscalerPolicyRef: { name: 'p', kind: 'ClusterAutoscalerPolicy' } } },
    'write kind: AutoscalerPolicy',
  ],
  [
    'a scaling mode that does not exist yet',
    { scalingPolicy: { mode: 'Pinned' } },
    'ScalingModeNotImplemented: only mode Independent works',
  ],
  [
    'hashing without the algorithm',
    { traffic: { consistentHash: { type: 'SourceIP' } } },
    'consistentHash and algorithm ConsistentHash go together',
  ],
  [
    'the algorithm without a hash',
    { traffic: { algorithm: 'ConsistentHash' } },
    'consistentHash and algorithm ConsistentHash go together',
  ],
  [
    'two progressions',
    rollout({ blueGreen: {}, canary: { steps: [step] } }),
    'at most one of canary, blueGreen, or rollingUpdate may be set on a rollout group',
  ],
  [
    'an order of strangers',
    rollout({ order: ['router'] }),
    'order must reference only Components listed in this group',
  ],
  ['an order', rollout({ order: ['engine'] }), 'OrderNotHonored: order has no effect; remove it'],
  [
    'an unknown component in a group',
    rollout({ components: ['engine', 'cache'] }),
    'InvalidComponentInCoordinationGroup: components may hold engine, decoder and router',
  ],
  [
    'a component twice in a group',
    rollout({ components: ['engine', 'engine'] }),
    'DuplicateComponentInCoordinationGroups: a component may be named once',
  ],
  [
    'a component in two groups',
    rollout({}, { groups: [{ components: ['engine'] }, { components: ['engine', 'decoder'] }] }),
    'DuplicateComponentInCoordinationGroups: a component may be in one group only',
  ],
  [
    'a group of a component that is not there',
    rollout({ components: ['engine', 'router'] }),
    'OrphanCoordinationGroup: spec.rollout.groups names a component that the service does not declare',
  ],
  [
    'a group outside OMENative',
    { ...rollout({}), deploymentMode: undefined },
    'CoordinationRequiresOMENative: components of a rollout group must be declared OMENative; write spec.deploymentMode: OMENative',
  ],
  [
    'a canary outside OMENative',
    { ...rollout({ canary: { steps: [step] } }), deploymentMode: undefined },
    'CanaryRequiresOMENative: components of a canary group must be declared OMENative',
  ],
  [
    'two canaries',
    rollout({}, { groups: ['engine', 'decoder'].map((one) => ({ components: [one], canary: { steps: [step] } })) }),
    'MultipleCanaryGroups: only one group may have a canary',
  ],
  [
    'a canary that does not finish',
    rollout({ canary: { steps: [{ capacity: '50%', traffic: 50 }] } }),
    'CanaryInvalid: the last step must finish the rollout; write traffic: 100 and capacity: "100%"',
  ],
  [
    'a capacity that is no number',
    rollout({ canary: { steps: [{ capacity: 'half', traffic: 50 }, step] } }),
    'CanaryInvalid: capacity must be a number of Instances or a percentage such as "25%"',
  ],
  [
    'two sources of metrics',
    rollout({ canary: { prometheus: { providerRef: { name: 'a' }, serverAddress: 'http://b' } } }),
    'at most one of providerRef and serverAddress may be set',
  ],
  [
    'group budgets of nothing',
    rollout({ rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }),
    'ZeroBudgetPacingUnstartable: maxSurge and maxUnavailable are both 0',
  ],
  [
    'a group budget that is no number',
    rollout({ rollingUpdate: { maxSurge: '1.5%' } }),
    'InvalidRollingUpdatePercent: maxSurge must be a number of Instances',
  ],
  [
    'a negative group budget',
    rollout({ rollingUpdate: { maxSurge: -1 } }),
    'InvalidRollingUpdateInteger: maxSurge must be at least 0',
  ],
  [
    'a duration without a unit',
    rollout({ soak: '10' }),
    'spec.rollout.groups[0].soak: Invalid value: "string": must be a duration with a unit, such as 30s, 10m or 1h30m',
  ],
  [
    'a duration in words',
    { engine: { lifecycle: { instanceReadyTimeout: '5 minutes' } } },
    'must be a duration with a unit, such as 30s',
  ],
  [
    'a malformed pairing token',
    { rollout: { pairingProtocol: '-kv' } },
    'spec.rollout.pairingProtocol in body should match',
  ],
  [
    'replicas of no engine',
    fronting({ replicaRefs: { decoder: ['pool'] } }),
    'spec.replicaRefs.engine is required when spec.replicaRefs is set; a service has an engine',
  ],
  ['two replicas of one role', fronting({ replicaRefs: { engine: ['a', 'b'] } }), 'one entry per role is accepted'],
  [
    'a replica with a bad name',
    fronting({ replicaRefs: { engine: ['A.b'] } }),
    'spec.replicaRefs.engine[0] "A.b" must match "[a-z]([-a-z0-9]*[a-z0-9])?"',
  ],
  [
    'one replica in two roles',
    fronting({ replicaRefs: { engine: ['a'], router: ['a'] } }),
    'a replica serves one role',
  ],
  ['an engine beside replicas', fronting({ engine: {} }), 'spec.engine and spec.replicaRefs cannot both be set'],
  [
    'a model beside replicas',
    fronting({ model: { name: 'a' } }),
    'spec.model is not accepted with spec.replicaRefs; the referenced replicas carry their own model and runtime',
  ],
  [
    'a rollout beside replicas',
    fronting({ rollout: {} }),
    'spec.rollout is not accepted with spec.replicaRefs; a referenced replica rolls on its own',
  ],
  [
    'a mode beside replicas',
    fronting({ deploymentMode: 'RawDeployment' }),
    'spec.deploymentMode RawDeployment is not accepted with spec.replicaRefs; a referenced replica is OMENative',
  ],
  [
    'an empty affinity term',
    { placement: { policy: 'ClusterAffinity', mode: 'All', clusterAffinity: [{}] } },
    'a cluster affinity term must contain a requirement',
  ],
  [
    'a timeout of nothing',
    { placement: { policy: 'ClusterAffinity', mode: 'Single', replacementTimeout: '0s' } },
    'replacementTimeout must be a positive duration',
  ],
  [
    'a timeout outside Single',
    { placement: { policy: 'ClusterAffinity', mode: 'All', replacementTimeout: '1m' } },
    'replacementTimeout requires ClusterAffinity Single placement',
  ],
  [
    'an incomplete probe',
    { routing: { probe: { path: '/' } } },
    'an enabled probe must specify path, method, acceptStatuses',
  ],
  [
    'a probe both off and set',
    { routing: { probe: { disabled: true, path: '/' } } },
    'disabled must not be combined with probe configuration fields',
  ],
  [
    'an incomplete capacity poll',
    { routing: { capacity: { path: '/' } } },
    'an enabled capacity poll must specify path, method, format',
  ],
  ['a probe every 0 seconds', probe({ period: '0s', timeout: '0s' }), 'period must be positive'],
  ['a probe with no time', probe({ timeout: '0s' }), 'timeout must be positive'],
  ['a probe longer than its period', probe({ timeout: '30s' }), 'timeout must be shorter than period'],
  ['a probe that gates on a refusal', probe({ gateStatuses: [403] }), 'gateStatuses must not contain 401, 403, or 429'],
  ['a quorum above the samples', poll({ quorum: 4 }), 'quorum must not exceed samples'],
  ['reports that are too old at once', poll({ maxAge: '10s' }), 'maxAge must be at least period'],
  [
    'a publisher option without a value',
    { routing: { publisher: { options: { a: '' } } } },
    'publisher option keys must contain 1-128 characters and values must contain 1-4096 characters',
  ],
  [
    'a life of no seconds',
    { ttlSecondsAfterCreation: 0 },
    'spec.ttlSecondsAfterCreation in body should be greater than or equal to 1',
  ],
  ['a misspelt component field', { engine: { lifecyle: {} } }, 'unknown field "spec.engine.lifecyle"'],
  ['a misspelt pod field', { engine: { tolerration: [] } }, 'unknown field "spec.engine.tolerration"'],
  ['a misspelt container field', { engine: { runner: { imagee: 'a' } } }, 'unknown field "spec.engine.runner.imagee"'],
];

describeOnApiServer('an InferenceService is refused for', (server) => {
  it.each(refusals)('%s', async (_, spec, message) => {
    const reply = await server.create(plural, service(spec));
    expect(messageOf(reply)).toContain(message);
    expect([400, 422]).toContain(reply.status);
    expect((await server.get(plural, 'refused')).status).toBe(404);
  });

  it.each([
    ['an uppercase letter', 'Chat', 'a lowercase RFC 1123 subdomain'],
    [
      'a digit first',
      '7b-chat',
      'metadata.name is the prefix of Service names and a label; it must match "[a-z]([-a-z0-9]*[a-z0-9])?"',
    ],
    ['a dot', 'chat.v1', 'metadata.name is the prefix of Service names'],
    ['more than 63 characters', 'a'.repeat(64), 'have at most 63 characters'],
  ])('a name with %s [B58]', async (_, name, message) => {
    const reply = await server.create(plural, service({}, name));
    expect(reply.status).toBe(422);
    expect(messageOf(reply)).toContain(message);
  });

  it('a missing spec', async () => {
    const reply = await server.create(plural, {
      apiVersion: 'ome.io/v1beta1',
      kind: 'InferenceService',
      metadata: { name: 'refused' },
    });
    expect(messageOf(reply)).toContain('spec is required; name a model or a runtime in it and declare an engine');
    expect((await server.get(plural, 'refused')).status).toBe(404);
  });
});
