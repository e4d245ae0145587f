/** Defaults go where the schema has them and nowhere else. */
import { describe, expect, it } from '@jest/globals';
import { applyDefaults } from './defaults.js';
import type { InferenceService } from './generated/types.js';

const service = (spec: InferenceService['spec']): InferenceService => ({
  apiVersion: 'ome.io/v1beta1',
  kind: 'InferenceService',
  metadata: { name: 'chat' },
  spec,
});

describe('applyDefaults', () => {
  it('fills in absent fields, also inside lists', () => {
    const filled = applyDefaults(
      'InferenceService',
      service({
        model: { name: 'llama', overlays: [{ name: 'a' }, { name: 'b', kind: 'BaseModel' }] },
        runtime: { name: 'vllm' },
        engine: { runner: { ports: [{ containerPort: 8080 }] } },
      }),
    );
    expect(filled.spec).toEqual({
      model: {
        name: 'llama',
        kind: 'ClusterBaseModel',
        apiGroup: 'ome.io',
        overlays: [
          { name: 'a', kind: 'ClusterBaseModel', apiGroup: 'ome.io' },
          { name: 'b', kind: 'BaseModel', apiGroup: 'ome.io' },
        ],
      },
      runtime: { name: 'vllm', kind: 'ClusterServingRuntime', apiGroup: 'ome.io', autoSync: true },
      engine: { runner: { ports: [{ containerPort: 8080, protocol: 'TCP' }] } },
    });
  });

  it('keeps what is written, false and empty included', () => {
    const filled = applyDefaults('InferenceService', service({ runtime: { name: 'vllm', kind: '', autoSync: false } }));
    expect(filled.spec.runtime).toEqual({ name: 'vllm', kind: '', apiGroup: 'ome.io', autoSync: false });
  });

  it('takes a null that is no value for absent', () => {
    const filled = applyDefaults('InferenceService', service(JSON.parse('{"runtime":{"name":"vllm","kind":null}}')));
    expect(filled.spec.runtime?.kind).toBe('ClusterServingRuntime');
  });

  it('makes no object where there was none', () => {
    expect(applyDefaults('InferenceService', service({})).spec).toEqual({});
  });

  it('reaches into maps with free keys', () => {
    const filled = applyDefaults('InferenceService', {
      ...service({}),
      status: { modelStatus: { modelCopies: JSON.parse('{}') } },
    });
    expect(filled.status?.modelStatus?.modelCopies).toEqual({ failedCopies: 0 });
  });

  it('returns the same object when nothing was absent, and shares what stayed the same', () => {
    const whole = applyDefaults('InferenceService', service({ model: { name: 'a' }, engine: { labels: { a: 'b' } } }));
    expect(applyDefaults('InferenceService', whole)).toBe(whole);
    const before = service({ model: { name: 'a' }, engine: { labels: { a: 'b' } } });
    expect(applyDefaults('InferenceService', before).spec.engine).toBe(before.spec.engine);
  });

  it('leaves its argument alone', () => {
    const before = service({ model: { name: 'a' } });
    applyDefaults('InferenceService', before);
    expect(before).toEqual(service({ model: { name: 'a' } }));
  });
});
