/** Brings what the manager needs of a bare cluster: its CustomResourceDefinitions, its namespace, its ConfigMap. */
import { crds } from '@omenative/api';
import { defaultConfigMap, type Log } from '@omenative/controllers';
import { type Client, classify, type KubeObject, type ResourceType, type Runtime, sleep } from '@omenative/kube';
import { managerName } from './options.js';

const crdType: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
const configMapType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

export interface InstallDeps {
  readonly client: Client;
  readonly runtime: Runtime;
  readonly log: Log;
}

/** Milliseconds between two looks at a definition that is not served yet, and how many there are at most. */
const pollMs = 200;
const maxPolls = 150;

/**
 * Applies the definitions server-side, creates the namespace and the ConfigMap where they are missing, and resolves once
 * the definitions are served. A ConfigMap that exists is the operator's and stays as it is.
 *
 * @throws ApiError or TransportError when the server refuses; Error when a definition is not accepted.
 */
export async function install({ client, runtime, log }: InstallDeps, namespace: string): Promise<void> {
  for (const crd of crds) {
    const { name } = crd.metadata;
    await client.patch(crdType, { name }, { kind: 'apply', body: crd, fieldManager: managerName, force: 'takeOver' });
  }
  for (const crd of crds) await whenServed(client, runtime, crd.metadata.name);
  log('info', `${crds.length} CustomResourceDefinitions are applied`, {});
  if (
    await createIfMissing(client, namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  ) {
    log('info', `namespace ${namespace} is created`, {});
  }
  const configMap = defaultConfigMap(namespace);
  if (await createIfMissing(client, configMapType, configMap)) {
    log('info', `ConfigMap ${namespace}/${configMap.metadata.name} is created with the default settings`, {});
  }
}

async function createIfMissing(client: Client, type: ResourceType, object: KubeObject): Promise<boolean> {
  try {
    await client.create(type, object);
    return true;
  } catch (error) {
    if (classify(error) === 'alreadyExists') return false;
    throw error;
  }
}

interface ConditionList {
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly message?: string }[];
  };
}

async function whenServed(client: Client, runtime: Runtime, name: string): Promise<void> {
  for (let poll = 1; ; poll++) {
    const crd: KubeObject & ConditionList = await client.get(crdType, { name });
    const condition = (type: string): { readonly status?: string; readonly message?: string } | undefined =>
      crd.status?.conditions?.find((item) => item.type === type);
    if (condition('Established')?.status === 'True') return;
    const refused = condition('NamesAccepted');
    if (refused?.status === 'False' || poll === maxPolls) {
      throw new Error(
        `CustomResourceDefinition ${name} is not established: ${refused?.message ?? 'the API server gives no reason'}`,
      );
    }
    await sleep(runtime, pollMs);
  }
}
