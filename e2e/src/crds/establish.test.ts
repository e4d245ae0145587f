/** The CRDs establish on a real API server, are what `crds/` holds, and serve the names and subresources they promise. */
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { crds } from '@omenative/api';
import { parse } from 'yaml';
import { describeOnApiServer } from './testing/api-server.js';

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
}

describeOnApiServer('the custom resource definitions', (server) => {
  it.each(crds.map((crd) => [crd.metadata.name, crd] as const))('%s establishes and is structural', async (_, crd) => {
    const stored = await server.applyDefinition(crd);
    const conditions = (stored['status'] as { conditions: { type: string; status: string }[] }).conditions;
    expect(conditions.filter(({ status }) => status === 'True').map(({ type }) => type)).toEqual([
      'NamesAccepted',
      'Established',
    ]);
    expect(conditions.filter(({ type }) => type === 'NonStructuralSchema')).toEqual([]);
  });

  it('are applied again without a change', async () => {
    for (const crd of crds) {
      const first = await server.applyDefinition(crd);
      const second = await server.applyDefinition(crd);
      expect(second['metadata']).toEqual(first['metadata']);
    }
  });

  it('are the files in crds/', () => {
    for (const crd of crds) {
      const file = new URL(`../../../crds/ome.io_${crd.spec.names.plural}.yaml`, import.meta.url);
      expect(parse(readFileSync(file, 'utf8'), { version: '1.1' })).toEqual(JSON.parse(JSON.stringify(crd)));
    }
  });

  it('serve kinds, short names, scopes and subresources', async () => {
    const { body } = await server.request('GET', '/apis/ome.io/v1beta1');
    const served = (body['resources'] as Resource[]).map(({ name, kind, namespaced, shortNames = [] }) =>
      `${name} ${kind} ${namespaced} ${shortNames.join()}`.trim(),
    );
    expect(served.toSorted()).toEqual(
      [
        'basemodels BaseModel true',
        'basemodels/status BaseModel true',
        'clusterbasemodels ClusterBaseModel false',
        'clusterbasemodels/status ClusterBaseModel false',
        'clusterservingruntimes ClusterServingRuntime false',
        'clusterservingruntimes/status ClusterServingRuntime false',
        'inferencereplicas InferenceReplica true irep',
        'inferencereplicas/scale Scale true',
        'inferencereplicas/status InferenceReplica true',
        'inferenceservices InferenceService true isvc',
        'inferenceservices/status InferenceService true',
        'servingruntimes ServingRuntime true',
        'servingruntimes/status ServingRuntime true',
      ].toSorted(),
    );
  });
});
