import { describe, expect, it } from '@jest/globals';
import {
  apiVersionOf,
  collectionPath,
  hasLabels,
  labelQuery,
  objectKey,
  objectPath,
  parseObjectKey,
  type ResourceType,
  resourceName,
} from './resources.js';

const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const leases: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

describe('resources', () => {
  it('have paths', () => {
    expect(collectionPath(pods)).toBe('/api/v1/pods');
    expect(collectionPath(leases, 'a')).toBe('/apis/coordination.k8s.io/v1/namespaces/a/leases');
    expect(objectPath(pods, { namespace: 'a', name: 'b' }, 'status')).toBe('/api/v1/namespaces/a/pods/b/status');
  });

  it('cannot be made to name another path', () => {
    expect(objectPath(pods, { namespace: 'a', name: '../b?c' })).toBe('/api/v1/namespaces/a/pods/..%2Fb%3Fc');
  });

  it('have names for people', () => {
    expect([apiVersionOf(pods), apiVersionOf(leases)]).toEqual(['v1', 'coordination.k8s.io/v1']);
    expect([resourceName(pods), resourceName(leases)]).toEqual(['pods', 'leases.coordination.k8s.io']);
  });

  it.each(['a/b', 'b'])('have keys: %s', (key) => {
    expect(objectKey(parseObjectKey(key))).toBe(key);
  });

  it('are selected by labels', () => {
    const labels = { b: '2', a: '1' };
    expect(labelQuery(labels)).toBe('a=1,b=2');
    expect(hasLabels({ metadata: { labels: { a: '1', b: '2', c: '3' } } }, labels)).toBe(true);
    expect(hasLabels({ metadata: { labels: { a: '1' } } }, labels)).toBe(false);
    expect(hasLabels({}, labels)).toBe(false);
    expect(hasLabels({}, {})).toBe(true);
  });
});
