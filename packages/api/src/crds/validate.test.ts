/** Every check of the validator, each shown by an object that is wrong in one place. */
import { describe, expect, it } from '@jest/globals';
import type { Kind } from '../generated/types.js';
import { describeProblems, validate } from './validate.js';

const metadata = { name: 'chat' };
const pod = { spec: { containers: [{ name: 'main', image: 'vllm:1' }] } };

function replica(spec: object, status?: object): object {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata,
    spec: { component: 'engine', runners: [{ name: 'default', size: 1, template: pod }], ...spec },
    ...(status ? { status } : {}),
  };
}

const service = (spec: object, status?: object): object => ({ metadata, spec, ...(status ? { status } : {}) });

describe('validate', () => {
  it('finds nothing in a good object', () => {
    expect(validate('InferenceReplica', replica({ replicas: 2, pacing: { maxUnavailable: '25%' } }))).toEqual([]);
  });

  it.each<[string, Kind, unknown, string]>([
    ['not an object', 'BaseModel', 7, 'must be an object, not 7'],
    ['no spec', 'InferenceService', { metadata }, 'spec: is required'],
    ['a required field', 'InferenceReplica', replica({ component: undefined }), 'spec.component: is required'],
    [
      'a misspelt field',
      'InferenceReplica',
      replica({ replica: 2 }),
      'spec.replica: is not a field here; check its spelling',
    ],
    [
      'a misspelt field of a pod spec',
      'InferenceService',
      service({ engine: { tolerration: [] } }),
      'spec.engine.tolerration: is not a field here; check its spelling',
    ],
    [
      'a misspelt field of a container',
      'InferenceService',
      service({ engine: { runner: { imagee: 'a' } } }),
      'spec.engine.runner.imagee: is not a field here; check its spelling',
    ],
    [
      'null',
      'InferenceReplica',
      replica({ replicas: null }),
      'spec.replicas: must not be null; leave it out or write a whole number',
    ],
    [
      'the wrong type of an object',
      'InferenceReplica',
      replica({ lifecycle: [] }),
      'spec.lifecycle: must be an object, not []',
    ],
    ['the wrong type of a list', 'InferenceReplica', replica({ runners: {} }), 'spec.runners: must be a list, not {}'],
    ['text for a number', 'InferenceReplica', replica({ replicas: '2' }), 'spec.replicas: must be a number, not "2"'],
    ['a fraction', 'InferenceReplica', replica({ replicas: 1.5 }), 'spec.replicas: must be a whole number, not 1.5'],
    ['a number for text', 'InferenceReplica', replica({ topologyKey: 1 }), 'spec.topologyKey: must be text, not 1'],
    [
      'text for a truth value',
      'InferenceReplica',
      replica({ paused: 'yes' }),
      'spec.paused: must be true or false, not "yes"',
    ],
    ['too small a number', 'InferenceReplica', replica({ replicas: -1 }), 'spec.replicas: must be at least 0, not -1'],
    [
      'too large a number',
      'InferenceReplica',
      replica({}, { traffic: [{ revisionName: 'a', percent: 101 }] }),
      'status.traffic[0].percent: must be at most 100, not 101',
    ],
    [
      'more than 32 bits',
      'InferenceReplica',
      replica({ replicas: 2 ** 31 }),
      'spec.replicas: must fit into 32 bits, not 2147483648',
    ],
    [
      'a value outside an enum',
      'InferenceReplica',
      replica({ pauseMode: 'freeze' }),
      'spec.pauseMode: must be one of "Recover", "Freeze", not "freeze"',
    ],
    [
      'a value outside a pattern',
      'InferenceReplica',
      replica({ pairingProtocol: '-v1' }),
      'spec.pairingProtocol: must match ^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$, and "-v1" does not',
    ],
    [
      'text that is too long',
      'InferenceReplica',
      replica({ pairingProtocol: 'a'.repeat(64) }),
      'spec.pairingProtocol: may have 63 characters, not 64',
    ],
    ['empty text', 'InferenceReplica', replica({ parentRef: { name: '' } }), 'spec.parentRef.name: must not be empty'],
    [
      'neither a number nor text',
      'InferenceReplica',
      replica({ pacing: { maxUnavailable: 0.5 } }),
      'spec.pacing.maxUnavailable: must be a whole number or text, not 0.5',
    ],
    [
      'a malformed quantity',
      'InferenceService',
      service({ engine: { runner: { resources: { limits: { memory: '8 GB' } } } } }),
      'spec.engine.runner.resources.limits[memory]: must match',
    ],
    [
      'a malformed time',
      'InferenceReplica',
      replica({}, { instanceStatuses: [{ index: 0, phase: 'Ready', readySince: 'now' }] }),
      'status.instanceStatuses[0].readySince: must be a time such as 2026-01-02T15:04:05Z, not "now"',
    ],
    [
      'too few items',
      'InferenceService',
      service({ rollout: { groups: [{ components: [] }] } }),
      'spec.rollout.groups[0].components: must have at least 1 items, not 0',
    ],
    [
      'too many items',
      'InferenceService',
      service({ rollout: { groups: [1, 2, 3, 4].map(() => ({ components: ['engine'] })) } }),
      'spec.rollout.groups: may have 3 items, not 4',
    ],
    [
      'too many entries of a map',
      'InferenceService',
      service({
        routing: { publisher: { options: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v'])) } },
      }),
      'spec.routing.publisher.options: may have 32 entries, not 33',
    ],
    [
      'a repeated item of a list map',
      'InferenceService',
      service({ engine: { containers: [{ name: 'a' }, { name: 'a' }] } }),
      'spec.engine.containers[1]: repeats name "a"; keep one of them',
    ],
    [
      'a repeated item whose key is defaulted',
      'InferenceService',
      service({ engine: { runner: { ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }] } } }),
      'spec.engine.runner.ports[1]: repeats containerPort 80, protocol "TCP"; keep one of them',
    ],
    [
      'a repeated item of a set',
      'InferenceReplica',
      replica({}, { instanceStatuses: [{ index: 0, phase: 'Ready', announced: ['a@1', 'a@1'] }] }),
      'status.instanceStatuses[0].announced[1]: repeats "a@1"; keep one of them',
    ],
  ])('finds %s', (_, kind, object, message) => {
    const problems = validate(kind, object);
    expect(problems).toHaveLength(1);
    expect(describeProblems(problems)).toContain(message);
  });

  it('keeps what other versions put where anything is allowed', () => {
    const toleration = { key: 'a', operator: 'Exists', weight: 3 };
    expect(validate('InferenceService', service({ engine: { tolerations: [toleration] } }, { novel: 1 }))).toEqual([]);
  });

  it('accepts null only where it means something', () => {
    const operation = { id: 'a', type: 'Create', step: 'CreatePods', startedAt: t, lastProgressAt: t, deadline: null };
    expect(
      validate('InferenceReplica', replica({}, { instanceStatuses: [{ index: 0, phase: 'Creating', operation }] })),
    ).toEqual([]);
  });

  it('stops after 20 problems', () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, i]));
    expect(validate('InferenceReplica', replica(fields))).toHaveLength(20);
  });

  it('joins problems into one line', () => {
    expect(describeProblems(validate('InferenceReplica', replica({ replicas: -1, minReadySeconds: -2 })))).toBe(
      'spec.replicas: must be at least 0, not -1; spec.minReadySeconds: must be at least 0, not -2',
    );
  });
});

const t = '2026-01-02T15:04:05Z';
