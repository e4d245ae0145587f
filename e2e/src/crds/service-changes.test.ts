/** What an InferenceService may say, and what it may not change. */
import { expect, it } from '@jest/globals';
import { describeOnApiServer, messageOf } from './testing/api-server.js';

import { fronting, gang, native, rolling, rollout, type Spec, service, step } from './testing/service.js';

const plural = 'inferenceservices';

const accepted: readonly (readonly [string, Spec])[] = [
  ['only an empty engine', {}],
  ["an empty gang, which takes the runtime's", { engine: gang }],
  ['both modes declared alike', { engine: native, decoder: native }],
  ['one mode for all', { deploymentMode: 'OMENative', decoder: {} }],
  [
    'modes that are neither OMENative',
    { deploymentMode: 'RawDeployment', decoder: { annotations: { 'ome.io/deploymentMode': 'MultiNode' } } },
  ],
  ['readyPolicy None on a single pod', { engine: { lifecycle: { readyPolicy: 'None' } } }],
  [
    'readyPolicy None where lifecycle is not read',
    { engine: { ...gang, annotations: { 'ome.io/deploymentMode': 'MultiNode' }, lifecycle: { readyPolicy: 'None' } } },
  ],
  ['a single budget of nothing', rolling({ maxSurge: 0 })],
  ['a budget above 100%', rolling({ maxSurge: '150%' })],
  ['an upper bound of 0, which is unset', { engine: { minReplicas: 3, maxReplicas: 0 } }],
  ['scaling down to nothing', { engine: { minReplicas: 0 } }],
  ['a group with a canary', rollout({ canary: { steps: [{ capacity: 1, traffic: 10, pause: {} }, step] } })],
  ['a canary that finishes with a count', rollout({ canary: { steps: [{ capacity: 4, traffic: 100 }] } })],
  ['a group without a progression', rollout({})],
  [
    'a group in components that declare the mode',
    { engine: native, decoder: native, rollout: { groups: [{ components: ['engine', 'decoder'] }] } },
  ],
  ['existing replicas', fronting({ replicaRefs: { engine: ['a'], decoder: ['b'] }, deploymentMode: 'OMENative' })],
  ['a name of 63 characters', {}],
];

describeOnApiServer('an InferenceService is accepted with', (server) => {
  it.each(accepted)('%s', async (title, spec) => {
    const name = title.startsWith('a name') ? 'a'.repeat(63) : 'accepted';
    const reply = await server.create(plural, service(spec, name));
    expect(messageOf(reply)).toBe('');
    await server.delete(plural, name);
  });
});

describeOnApiServer('an update of an InferenceService is refused for', (server) => {
  /** Creates an object, tries an update, and shows that the object is as it was. */
  async function refuses(before: Spec, patch: Spec, message: string): Promise<void> {
    const created = await server.create(plural, service(before, 'updated'));
    expect(messageOf(created)).toBe('');
    try {
      const reply = await server.merge(plural, 'updated', { spec: patch });
      expect(messageOf(reply)).toContain(message);
      expect(reply.status).toBe(422);
      expect((await server.get(plural, 'updated')).body).toEqual(created.body);
    } finally {
      await server.delete(plural, 'updated');
    }
  }

  it('other replicas', () =>
    refuses(
      fronting({}),
      { replicaRefs: { engine: ['other'] } },
      'spec.replicaRefs is fixed at create; delete and recreate the InferenceService',
    ));

  it('replicas that are taken away', () =>
    refuses(
      fronting({}),
      { replicaRefs: null, runtime: { name: 'vllm' }, engine: {} },
      'spec.replicaRefs is fixed at create',
    ));

  it('replicas that are added', () =>
    refuses(
      {},
      { runtime: null, engine: null, replicaRefs: { engine: ['pool'] } },
      'spec.replicaRefs is fixed at create',
    ));

  it('a placement that is taken away', () =>
    refuses(
      { placement: { policy: 'ClusterAffinity', mode: 'All' } },
      { placement: null },
      'ClusterAffinity placement policy cannot be removed; drain and recreate the service to change placement ownership',
    ));

  it('another pairing protocol without a group that changes both halves together', () =>
    refuses(
      { rollout: { pairingProtocol: 'kv-1' } },
      { rollout: { pairingProtocol: 'kv-2' } },
      'PairingProtocolChangeUncoordinated: changing pairingProtocol needs engine and decoder in one group',
    ));

  it('a mistake in a field that was right', () =>
    refuses({}, { engine: { minAvailable: 1, maxUnavailable: 1 } }, 'cannot both be set'));

  it('nothing when the pairing protocol changes within a group', async () => {
    await server.create(plural, service(rollout({}, { pairingProtocol: 'kv-1' }), 'paired'));
    expect(messageOf(await server.merge(plural, 'paired', { spec: { rollout: { pairingProtocol: 'kv-2' } } }))).toBe(
      '',
    );
  });
});
