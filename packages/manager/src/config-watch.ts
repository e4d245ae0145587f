/** Keeps the operator's settings in step with the ConfigMap, and says so when a key of it can't be used. */
import {
  type Caches,
  configMapName,
  describeRejection,
  type EventSink,
  type Log,
  OperatorConfig,
  type Rejection,
} from '@omenative/controllers';
import { type Client, classify, type KubeObject, type ResourceType, type Unsubscribe } from '@omenative/kube';

const configMapType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/**
 * Reads the ConfigMap for the first time.
 *
 * @throws ConfigError naming every key that can't be used; Error when there is no ConfigMap.
 */
export async function readConfig(client: Client, namespace: string): Promise<OperatorConfig> {
  const found = await readConfigMap(client, namespace);
  if (found === undefined) {
    throw new Error(
      `ConfigMap ${namespace}/${configMapName} does not exist: install the chart, or start with --apply-crds, which creates ` +
        'it with the default settings',
    );
  }
  return new OperatorConfig(found.data ?? {});
}

export interface ConfigWatchOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly config: OperatorConfig;
  readonly caches: Pick<Caches, 'config'>;
  readonly events: EventSink;
  readonly log: Log;
}

export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  #unsubscribe: Unsubscribe | undefined;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe = this.#options.caches.config.subscribe(({ now }) => {
      if (now === undefined) {
        const { namespace, log } = this.#options;
        log('warn', `ConfigMap ${namespace}/${configMapName} is gone; its last values stay in effect`, {});
        return;
      }
      this.#take(now.raw);
    });
  }

  stop(): void {
    this.#unsubscribe?.();
  }

  /** Reads the ConfigMap itself: a new leader must not act on settings that its cache has yet to hear of. */
  async refresh(): Promise<void> {
    const { client, namespace } = this.#options;
    const found = await readConfigMap(client, namespace);
    if (found !== undefined) this.#take(found);
  }

  #take(configMap: ConfigMap): void {
    for (const rejection of this.#options.config.update(configMap.data ?? {})) this.#tell(configMap, rejection);
  }

  #tell(configMap: ConfigMap, rejection: Rejection): void {
    const { events, log, namespace } = this.#options;
    const message = `${describeRejection(rejection)}; the last good value stays in effect`;
    log('warn', `ConfigMap ${namespace}/${configMapName}: ${message}`, { key: rejection.key, value: rejection.value });
    const { uid = '', resourceVersion = '' } = configMap.metadata ?? {};
    events.record({
      regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: configMapName, uid },
      type: 'Warning',
      reason: 'ConfigKeyRejected',
      message,
      episode: `${resourceVersion}/${rejection.key}`,
    });
  }
}

async function readConfigMap(client: Client, namespace: string): Promise<ConfigMap | undefined> {
  try {
    return await client.get(configMapType, { namespace, name: configMapName });
  } catch (error) {
    if (classify(error) === 'notFound') return undefined;
    throw error;
  }
}
