import { describe, expect, it } from '@jest/globals';
import type { JsonRecord } from '../shared/json.js';
import { modeMismatch, type ResolvedMode, resolveMode } from './mode.js';

function annotated(mode: string): JsonRecord {
  return { annotations: { 'ome.io/deploymentMode': mode } };
}

const gang = { leader: {}, worker: {} };

describe('the deployment mode of a component', () => {
  it.each([
    ['nothing says anything', {}, {}, {}, 'RawDeployment', 'Default'],
    ['the field', { deploymentMode: 'OMENative' }, {}, {}, 'OMENative', 'ServiceSpec'],
    ['a field with an unknown word', { deploymentMode: 'Knative' }, {}, {}, 'RawDeployment', 'Default'],
    [
      'an annotation over the field',
      { deploymentMode: 'OMENative' },
      annotated('RawDeployment'),
      {},
      'RawDeployment',
      'ComponentAnnotation',
    ],
    [
      'the runtime’s annotation over the field',
      { deploymentMode: 'OMENative' },
      {},
      annotated('MultiNode'),
      'MultiNode',
      'ComponentAnnotation',
    ],
    [
      'the service’s annotation over the runtime’s',
      {},
      annotated('OMENative'),
      annotated('MultiNode'),
      'OMENative',
      'ComponentAnnotation',
    ],
    [
      'an annotation that names no mode is passed over',
      { deploymentMode: 'OMENative' },
      annotated('Serverless'),
      {},
      'OMENative',
      'ServiceSpec',
    ],
    ['and still hides the runtime’s', {}, annotated('Serverless'), annotated('MultiNode'), 'RawDeployment', 'Default'],
    ['the shape of the service', {}, gang, {}, 'OMENative', 'LeaderWorkerShape'],
    ['the shape of the runtime', {}, {}, gang, 'OMENative', 'LeaderWorkerShape'],
    ['the field over the shape', { deploymentMode: 'RawDeployment' }, gang, {}, 'RawDeployment', 'ServiceSpec'],
    [
      'an annotation over the shape',
      {},
      annotated('VirtualDeployment'),
      gang,
      'VirtualDeployment',
      'ComponentAnnotation',
    ],
  ])('%s', (_case, spec, own, runtime, mode, source) => {
    expect(resolveMode('engine', spec, own, runtime)).toMatchObject({ mode, source });
    expect(resolveMode('decoder', spec, own, runtime)).toMatchObject({ mode, source });
  });

  it('is not chosen for a router by its shape: a router is a single pod', () => {
    expect(resolveMode('router', {}, gang, {})).toMatchObject({ mode: 'RawDeployment', source: 'Default' });
  });

  it('says where the word stands', () => {
    expect(resolveMode('engine', {}, {}, annotated('MultiNode')).from).toBe(
      "annotation ome.io/deploymentMode on the runtime's engineConfig",
    );
  });
});

const fromSpec = (word: ResolvedMode['mode']): ResolvedMode => ({
  mode: word,
  source: 'ServiceSpec',
  from: 'spec.deploymentMode',
});

describe('engine and decoder', () => {
  it.each([
    ['OMENative', 'OMENative'],
    ['RawDeployment', 'RawDeployment'],
    ['RawDeployment', 'MultiNode'],
  ] as const)('may be %s and %s', (engine, decoder) => {
    expect(modeMismatch(fromSpec(engine), fromSpec(decoder))).toBeUndefined();
  });

  it('may not part when one of them is OMENative', () => {
    expect(modeMismatch(fromSpec('OMENative'), fromSpec('RawDeployment'))).toContain(
      'InvalidDeploymentModeCombination: engine deploymentMode="OMENative" does not match decoder deploymentMode="RawDeployment"; ' +
        'when either is OMENative, both must use the same value',
    );
  });
});
