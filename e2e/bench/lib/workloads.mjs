// What is run: gangs of ours, and the StatefulSet of as many pods that they are compared with.

export const replicaType = {
  group: 'ome.io',
  version: 'v1beta1',
  plural: 'inferencereplicas',
  kind: 'InferenceReplica',
  namespaced: true,
};
export const statefulSetType = {
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
};
export const serviceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

const podSpec = (image) => ({
  terminationGracePeriodSeconds: 10,
  containers: [{ name: 'ome-container', image, ports: [{ name: 'http', containerPort: 8080 }] }],
});

/** `gangs` Instances of a leader and a worker. */
export function gangs(namespace, count, image) {
  const runner = (name) => ({ name, size: 1, template: { spec: podSpec(image) } });
  return {
    metadata: { name: 'gangs', namespace },
    spec: {
      component: 'engine',
      replicas: count,
      lifecycle: {
        instanceReadyTimeout: '10m',
        updateStrategy: { type: 'SurgeThenDrain', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      },
      runners: [runner('leader'), runner('worker')],
    },
  };
}

/** As many pods as the gangs have, all at once, with a headless Service as the gangs have one. */
export function statefulSet(namespace, pods, image) {
  const labels = { app: 'peers' };
  return {
    metadata: { name: 'peers', namespace },
    spec: {
      serviceName: 'peers',
      replicas: pods,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

/** With a port, as the gangs' Service: without one Kubernetes never stops writing its slices. */
const ports = [{ name: 'discard', port: 9 }];

export function headlessService(namespace) {
  return {
    metadata: { name: 'peers', namespace },
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: 'peers' }, ports },
  };
}
