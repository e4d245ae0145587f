import { describe, expect, it } from '@jest/globals';
import { type ChangeFlags, changeOf } from './change-flags.js';

const flags: ChangeFlags = { type: 'merge', fieldManager: 'kubectl' };
const manifest = 'apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: chat, namespace: lab}\n';

describe('the change that is asked for', () => {
  it('is a patch, in JSON or YAML', () => {
    const { changes } = changeOf(['isvc/chat'], { ...flags, patch: 'spec: {engine: {minReplicas: 3}}' }, String);
    expect(changes).toEqual([
      {
        as: 'patch',
        target: { kind: 'InferenceService', name: 'chat' },
        patch: { kind: 'merge', body: { spec: { engine: { minReplicas: 3 } } } },
      },
    ]);
    const json = { ...flags, type: 'json', patch: '[{"op":"remove","path":"/spec/paused"}]' } as const;
    expect(changeOf(['irep', 'chat-engine'], json, String).changes).toMatchObject([{ patch: { kind: 'json' } }]);
  });

  it('is every manifest of a file that it knows something of', () => {
    const text = `${manifest}---\nkind: Service\nmetadata: {name: other}\n---\n`;
    const { changes, remarks } = changeOf([], { ...flags, filename: 'f.yaml' }, () => text);
    expect(changes).toMatchObject([{ as: 'apply', namespace: 'lab', by: 'client', target: { name: 'chat' } }]);
    expect(remarks).toMatchObject([{ code: 'DocumentSkipped', message: expect.stringContaining('Service other') }]);
  });

  it('is a server-side apply where that is asked for', () => {
    const apply = { ...flags, filename: 'f.yaml', serverSide: true, forceConflicts: true };
    expect(changeOf([], apply, () => manifest).changes).toMatchObject([
      { by: { fieldManager: 'kubectl', force: 'takeOver' } },
    ]);
  });

  it.each([
    ['nothing', [], {}, /say what changes/],
    ['a patch of nothing', [], { patch: '{}' }, /say what the patch is for/],
    ['a file and a target', ['isvc/chat'], { filename: 'f' }, /leave out the target/],
    ['a type that is none', ['pod/chat'], { patch: '{}' }, /"pod" is no type/],
    ['a patch that is no object', ['isvc/chat'], { patch: 'three' }, /is an object/],
    ['a list of operations that is none', ['isvc/chat'], { patch: '{}', type: 'json' }, /is a list of operations/],
    ['a patch that is no YAML', ['isvc/chat'], { patch: '{' }, /--patch can't be read/],
    ['two objects', ['isvc/chat', 'isvc/talk'], { patch: '{}' }, /one object is patched/],
  ] as const)('is refused in words when it is %s', (_, words, more, message) => {
    expect(() => changeOf(words, { ...flags, ...more }, () => '')).toThrow(message);
  });

  it('is refused when a file holds nothing of ours', () => {
    expect(() => changeOf([], { ...flags, filename: 'f.yaml' }, () => 'kind: Service')).toThrow(
      'f.yaml holds no InferenceService and no InferenceReplica',
    );
  });
});
