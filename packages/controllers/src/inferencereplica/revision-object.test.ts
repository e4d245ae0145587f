import { describe, expect, it } from '@jest/globals';
import type { RevisionPayload } from '@omenative/engine';
import { headOf, replicaRecordOf } from './replica-record.js';
import { revisionObject, revisionRecordOf, samePayload } from './revision-object.js';
import { rawReplica, template } from './testing/objects.js';

const single: RevisionPayload = {
  runners: [{ name: 'default', size: 1, template: template() }],
  pairingProtocol: 'p1',
};
const gang: RevisionPayload = {
  runners: [
    { name: 'leader', size: 1, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'l' }] } } },
    { name: 'worker', size: 3, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'w' }] } } },
  ],
  topologyKey: 'rack',
};

function stored(payload: RevisionPayload) {
  return revisionObject({
    replica: headOf(replicaRecordOf(rawReplica())),
    owner: 'chat',
    component: 'engine',
    name: 'chat-engine-0123abcd',
    number: 4,
    payload,
  });
}

describe('revisionObject', () => {
  it('stores a single-pod revision', () => {
    expect(stored(single)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: 'chat-engine-0123abcd',
        namespace: 'team-a',
        labels: { component: 'engine', 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' },
        annotations: { 'ome.io/pairing-protocol': 'p1' },
        ownerReferences: [
          {
            apiVersion: 'ome.io/v1beta1',
            kind: 'InferenceReplica',
            name: 'chat-engine',
            uid: 'replica-uid',
            controller: true,
            blockOwnerDeletion: false,
          },
        ],
      },
      data: { podSpec: template()['spec'], podMeta: null, pairingProtocol: 'p1' },
      revision: 4,
    });
  });

  const ownLabels: RevisionPayload = {
    runners: gang.runners.map((runner) =>
      runner.name === 'worker'
        ? { ...runner, template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'w' }] } } }
        : runner,
    ),
  };

  it.each([single, gang, ownLabels])('is read back as it was stored', (payload) => {
    const { revision } = revisionRecordOf(stored(payload));
    expect(revision).toMatchObject({ name: 'chat-engine-0123abcd', hash: '0123abcd', number: 4 });
    expect(revision?.payload).toEqual(payload);
  });

  it('does not take foreign data for a revision', () => {
    expect(revisionRecordOf({ metadata: { name: 'x-0123abcd' }, data: { spec: {} } })).not.toHaveProperty('revision');
    expect(revisionRecordOf({ metadata: { name: 'x-0123abcd' } })).not.toHaveProperty('revision');
  });
});

describe('samePayload', () => {
  it('overlooks what says nothing', () => {
    const theirs = revisionRecordOf({
      metadata: { name: 'chat-engine-0123abcd' },
      data: { podSpec: template()['spec'], podMeta: { creationTimestamp: null, labels: {} }, pairingProtocol: 'p1' },
    });
    expect(theirs.revision).toBeDefined();
    expect(theirs.revision !== undefined && samePayload(theirs.revision.payload, single)).toBe(true);
  });

  it('sees another template', () => {
    expect(samePayload(single, { ...single, runners: [{ name: 'default', size: 1, template: template('e:2') }] })).toBe(
      false,
    );
  });
});
