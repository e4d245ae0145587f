/** The status and scale subresources, and the columns of `kubectl get`. */
import { beforeAll, expect, it } from '@jest/globals';
import { describeOnApiServer, type Json, messageOf } from './testing/api-server.js';

const tables = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const plural = 'inferencereplicas';
const template = { spec: { containers: [{ name: 'main', image: 'vllm:1' }] } };
const time = '2026-01-02T15:04:05Z';

const replica = {
  apiVersion: 'ome.io/v1beta1',
  kind: 'InferenceReplica',
  metadata: { name: 'pool' },
  spec: { component: 'engine', replicas: 2, runners: [{ name: 'default', size: 1, template }] },
};

const generation = (object: Json): unknown => (object['metadata'] as Json)['generation'];

describeOnApiServer('an InferenceReplica', (server) => {
  beforeAll(async () => {
    const reply = await server.create(plural, { ...replica, status: { replicas: 9 } });
    expect(messageOf(reply)).toBe('');
  });

  it('takes no status from a create or an update', async () => {
    expect((await server.get(plural, 'pool')).body['status']).toBeUndefined();
    const updated = await server.merge(plural, 'pool', { status: { replicas: 9 } });
    expect(updated.body['status']).toBeUndefined();
  });

  it('takes only status from a write to its status, which is no new generation', async () => {
    const before = (await server.get(plural, 'pool')).body;
    const status = { replicas: 3, readyReplicas: 2, availableReplicas: 1, labelSelector: 'component=engine' };
    const written = await server.merge(plural, 'pool/status', { spec: { replicas: 7 }, status });
    expect(written.body).toMatchObject({ spec: before['spec'], status });
    expect(generation(written.body)).toBe(generation(before));
  });

  it('is scaled by spec.replicas, and shows count and selector', async () => {
    const scaled = await server.merge(plural, 'pool/scale', { spec: { replicas: 5 } });
    expect(scaled.body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 5 },
      status: { replicas: 3, selector: 'component=engine' },
    });
    expect((await server.get(plural, 'pool')).body['spec']).toMatchObject({ replicas: 5 });
  });

  it('shows component and counts in kubectl get', async () => {
    const { body } = await server.request('GET', server.path(plural), { accept: tables });
    expect(columnsOf(body)).toEqual(['Name', 'Component', 'Desired', 'Current', 'Ready', 'Available', 'Age']);
    const [row] = body['rows'] as { cells: unknown[] }[];
    expect(row?.cells.slice(0, 6)).toEqual(['pool', 'engine', 5, 3, 2, 1]);
  });
});

function columnsOf(table: Json): string[] {
  return (table['columnDefinitions'] as { name: string }[]).map(({ name }) => name);
}

describeOnApiServer('an InferenceService', (server) => {
  it('shows where it is and whether it is Ready in kubectl get', async () => {
    await server.create('inferenceservices', {
      apiVersion: 'ome.io/v1beta1',
      kind: 'InferenceService',
      metadata: { name: 'chat' },
      spec: { model: { name: 'llama' }, runtime: { name: 'vllm' }, engine: {} },
    });
    await server.merge('inferenceservices', 'chat/status', {
      status: {
        url: 'http://chat',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'RolloutPlanDrift', status: 'False' },
        ],
        rollout: {
          activeRun: {
            runID: 'r',
            openedAt: time,
            pinnedAt: time,
            plan: { groups: [{ source: 'Inline', group: { components: ['engine'] } }] },
          },
        },
        placement: { phase: 'Placed' },
      },
    });
    const { body } = await server.request('GET', server.path('inferenceservices'), { accept: tables });
    expect(columnsOf(body)).toEqual([
      'Name',
      'URL',
      'Ready',
      'BaseModel',
      'Runtime',
      'Placement',
      'Plan-Source',
      'Plan-Drift',
      'Age',
    ]);
    const [row] = body['rows'] as { cells: unknown[] }[];
    expect(row?.cells.slice(0, 8)).toEqual([
      'chat',
      'http://chat',
      'True',
      'llama',
      'vllm',
      'Placed',
      'Inline',
      'False',
    ]);
  });
});

describeOnApiServer('runtimes and models', (server) => {
  it.each<[string, string, object, readonly unknown[]]>([
    [
      'servingruntimes',
      'ServingRuntime',
      {
        disabled: false,
        modelSizeRange: { min: '1B', max: '8B' },
        supportedModelFormats: [
          {
            modelFormat: { name: 'safetensors' },
            modelFramework: { name: 'transformers', version: '4' },
            modelArchitecture: 'LlamaForCausalLM',
          },
        ],
      },
      ['shown', 'false', 'safetensors', 'transformers', '4', 'LlamaForCausalLM', '1B', '8B'],
    ],
    [
      'basemodels',
      'BaseModel',
      {
        storage: { storageUri: 'hf://a/b' },
        vendor: 'acme',
        version: '1',
        disabled: true,
        modelFormat: { name: 'safetensors' },
        modelFramework: { name: 'transformers', version: '4' },
        modelArchitecture: 'LlamaForCausalLM',
        modelParameterSize: '7B',
      },
      ['shown', 'true', '1', 'acme', 'transformers', '4', 'safetensors', 'LlamaForCausalLM', '', '7B'],
    ],
  ])('%s show what they are in kubectl get', async (resource, kind, spec, cells) => {
    const made = await server.create(resource, {
      apiVersion: 'ome.io/v1beta1',
      kind,
      metadata: { name: 'shown' },
      spec,
    });
    expect(messageOf(made)).toBe('');
    const { body } = await server.request('GET', server.path(resource), { accept: tables });
    const [row] = body['rows'] as { cells: unknown[] }[];
    expect(row?.cells.slice(0, cells.length).map(String)).toEqual(
      cells.map((cell) => String(cell === '' ? null : cell)),
    );
  });
});
