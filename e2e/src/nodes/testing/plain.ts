/** A Deployment with the lab's workload and no drain at all: what the suites' client has to notice. */
import type { Api } from './api.js';
import { deployments, services } from './objects.js';
import { labScript } from './steps.js';

/** Creates `count` pods with the label `app: {name}` behind a Service of that name. */
export async function createPlain(api: Api, name: string, count: number): Promise<void> {
  const labels = { app: name };
  await api.create(services, {
    metadata: { name },
    spec: { selector: labels, ports: [{ port: 8080 }] },
  });
  const container = {
    name: 'web',
    image: 'busybox:v1',
    command: ['sh', '-c'],
    args: [labScript('a Deployment')],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  };
  await api.create(deployments, {
    metadata: { name },
    spec: {
      replicas: count,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 10, containers: [container] } },
    },
  });
}
