/** The person at the keyboard: what kubectl would send, sent over HTTP. */
import type { Client, KubeObject } from '@omenative/kube';
import { namespace } from './manifests.js';
import { inferenceServiceType, typeOf } from './resources.js';

/** Every method rejects with `ApiError` or `TransportError` when the cluster refuses or does not answer. */
export class User {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** `kubectl apply --server-side`. */
  async apply(object: KubeObject): Promise<void> {
    const { name = '', namespace: place } = object.metadata ?? {};
    const subject = place === undefined ? { name } : { namespace: place, name };
    await this.#client.patch(typeOf(object), subject, {
      kind: 'apply',
      body: object,
      fieldManager: 'kubectl',
      force: 'yield',
    });
  }

  /** `kubectl patch isvc NAME --type merge`. */
  async patchService(name: string, patch: object): Promise<void> {
    await this.#client.patch(inferenceServiceType, { namespace, name }, { kind: 'merge', body: patch });
  }

  async deleteService(name: string): Promise<void> {
    await this.#client.delete(inferenceServiceType, { namespace, name });
  }
}
