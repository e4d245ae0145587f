import { describe, expect, it } from '@jest/globals';
import { crds } from '@omenative/api';
import { type ApiRequest, type ApiResponse, Client, testing } from '@omenative/kube';
import { install } from './install.js';

type Json = Readonly<Record<string, unknown>>;

function established(status: Json = { conditions: [{ type: 'Established', status: 'True' }] }): ApiResponse {
  return testing.ok({ metadata: { name: 'x', uid: 'u', resourceVersion: '1' }, status });
}

async function run(
  answer: (request: ApiRequest) => ApiResponse,
): Promise<{ requests: readonly ApiRequest[]; logged: string[]; runtime: testing.VirtualRuntime }> {
  const runtime = new testing.VirtualRuntime();
  const transport = new testing.ScriptedTransport(answer);
  const logged: string[] = [];
  const client = new Client({ transport, runtime, retry: { maxAttempts: 1, maxWaitMs: 0 } });
  const done = install({ client, runtime, log: (_level, message) => logged.push(message) }, 'ome');
  const outcome = done.then(
    () => undefined,
    (error: unknown) => error,
  );
  await runtime.advance(60_000);
  const error = await outcome;
  if (error !== undefined) throw error;
  return { requests: transport.requests, logged, runtime };
}

describe('the installation', () => {
  it('applies every definition server-side, waits until each is served, and brings namespace and ConfigMap', async () => {
    let polls = 0;
    const { requests, logged } = await run((request) => {
      if (request.method === 'POST') return testing.ok(request.body, 201);
      return request.method === 'GET' && polls++ < 2 ? established({}) : established();
    });
    const patches = requests.filter((request) => request.method === 'PATCH');
    expect(patches).toHaveLength(crds.length);
    expect(new Set(patches.map((request) => request.contentType))).toEqual(new Set(['application/apply-patch+yaml']));
    expect(patches[0]?.query).toMatchObject({ force: 'true', fieldManager: 'ome-controller-manager' });
    expect(requests.filter((request) => request.method === 'GET')).toHaveLength(crds.length + 2);
    expect(requests.filter((request) => request.method === 'POST').map((request) => request.path)).toEqual([
      '/api/v1/namespaces',
      '/api/v1/namespaces/ome/configmaps',
    ]);
    expect(logged).toHaveLength(3);
  });

  it('leaves a ConfigMap that is there to its operator', async () => {
    const { logged } = await run((request) =>
      request.method === 'POST' ? testing.failure(409, 'AlreadyExists', 'is there') : established(),
    );
    expect(logged).toEqual([`${crds.length} CustomResourceDefinitions are applied`]);
  });

  it('gives up on a definition that is not accepted, and says why', async () => {
    const refused = { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'isvc is taken' }] };
    await expect(run(() => established(refused))).rejects.toThrow('is not established: isvc is taken');
  });

  it('gives up on one that never comes', async () => {
    await expect(run(() => established({}))).rejects.toThrow('the API server gives no reason');
  });
});
