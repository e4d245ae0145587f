/** What suites do and ask again and again. */
import { label } from '@omenative/api';
import type { Api } from './api.js';
import { configMaps, type EndpointSlice, type InferenceReplica, services } from './objects.js';

/** The script of the lab's container, that says `hello from OMENative {version}`. */
export function labScript(version: string): string {
  return `echo "hello from OMENative ${version}" > /www/index.html
httpd -f -p 8080 -h /www &
trap 'exit 0' TERM
wait
`;
}

/** The address of a Service, port 8080, by its ClusterIP. */
export async function serviceUrl(api: Api, name: string): Promise<string> {
  const { spec } = await api.get(services, name);
  return `http://${spec.clusterIP}:8080/`;
}

/** Changes members of the operator's `lifecycle` settings; the manager takes them up by itself. */
export async function setLifecycle(api: Api, members: Readonly<Record<string, unknown>>): Promise<void> {
  const { data = {} } = await api.get(configMaps, 'inferenceservice-config');
  const lifecycle: object = JSON.parse(data['lifecycle'] ?? '{}');
  const changed = JSON.stringify({ ...lifecycle, ...members });
  await api.merge(configMaps, 'inferenceservice-config', { data: { lifecycle: changed } });
}

/** Whether a roll of `count` Instances is over, by the words of the lab: no earlier Ready can be meant. */
export function convergedAt({ metadata, status }: InferenceReplica, count: number): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status?.currentRevision === status?.updateRevision &&
    status?.updatedReadyReplicas === count &&
    status?.availableReplicas === count &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

/** The names of the pods that the slices of a Service list, ready or not, in order. */
export function addressesOf(slices: readonly EndpointSlice[], service: string): readonly string[] {
  return slices
    .filter(({ metadata }) => metadata.labels?.[label.serviceName] === service)
    .flatMap(({ endpoints }) => (endpoints ?? []).map(({ targetRef }) => targetRef?.name ?? ''))
    .toSorted();
}
