/** Conformance cases on a real cluster, named by a kubeconfig. */
import { setTimeout } from 'node:timers/promises';
import { connectionFromKubeconfig, HttpTransport, systemRuntime } from '@omenative/kube';
import {
  type Answer,
  type Bed,
  type Case,
  FORBIDDEN_IMAGE,
  type Program,
  type Refusing,
  toAnswer,
  type Watching,
} from './bed.js';
import { definitions } from './definitions.js';
import { refusingObjects } from './refusing.js';
import { openWatching } from './sim-bed.js';

const STAY = 'trap "exit 0" TERM; while :; do sleep 0.1; done';
const STEADY = `touch /tmp/ready; ${STAY}`;

/** One command for three images, which look at what they are. */
const CHANGING = `case "$(cat /etc/image)" in busybox:v1) touch /tmp/ready;; busybox:v2) sleep 0.2; exit 3;; esac; ${STAY}`;

/** The image of each program, and what its shell is told. */
const PROGRAMS: Readonly<Record<Program, readonly [image: string, script?: string]>> = {
  steady: ['busybox:v1', STEADY],
  'steady v2': ['busybox:v2', STEADY],
  'steady alias': ['docker.io/library/busybox:v1', STEADY],
  stubborn: ['busybox:v1', 'trap "" TERM; while :; do sleep 1; done'],
  failing: ['busybox:v1', 'exit 3'],
  fading: ['busybox:v1', 'touch /tmp/ready; sleep 4; exit 3'],
  finishing: ['busybox:v1', 'exit 0'],
  missing: ['nowhere.invalid/none:v1'],
  // An address of the nodes' own network that nobody has.
  'missing slowly': ['10.245.0.250/none:v1'],
  serving: ['busybox:v1'],
  changing: ['busybox:v1', CHANGING],
  'changing crashes': ['busybox:v2', CHANGING],
  'changing unready': ['busybox:v3', CHANGING],
};

let number = 0;

export class RealBed implements Bed {
  readonly cluster = 'real';
  readonly namespace: string;
  readonly #transport: HttpTransport;
  readonly #open: Watching[] = [];
  readonly #refusing: string[] = [];

  private constructor(transport: HttpTransport, namespace: string) {
    this.#transport = transport;
    this.namespace = namespace;
  }

  /** Connects, and makes a namespace for one case. */
  static async create(kubeconfig: string): Promise<RealBed> {
    const runtime = systemRuntime();
    const connection = await connectionFromKubeconfig({ runtime, path: kubeconfig });
    const transport = new HttpTransport({ connection, runtime, userAgent: 'conformance' });
    number += 1;
    const bed = new RealBed(transport, `conformance-${process.pid}-${number}`);
    await bed.#prepare();
    return bed;
  }

  async request(...[method, path, parts]: Parameters<Bed['request']>): Promise<Answer> {
    return toAnswer(await this.#transport.request({ method, path, ...parts }));
  }

  watch(path: string, query: Readonly<Record<string, string>> = {}): Watching {
    const watching = openWatching(this.#transport, path, query);
    this.#open.push(watching);
    return watching;
  }

  async eventually<T>(
    what: string,
    probe: () => Promise<T | undefined> | T | undefined,
    withinMs = 20_000,
  ): Promise<T> {
    const untilMs = Date.now() + withinMs;
    for (;;) {
      const found = await probe();
      if (found !== undefined) return found;
      if (Date.now() > untilMs) throw new Error(`not in time: ${what}`);
      await setTimeout(20);
    }
  }

  nowMs(): number {
    return Date.now();
  }

  pause(ms: number): Promise<void> {
    return setTimeout(ms);
  }

  async refuse(refusing: Refusing): Promise<string> {
    await this.#forgive();
    const name = `${refusing.toLowerCase()}.${this.namespace}.test`;
    for (const { path, body } of refusingObjects(refusing, name, this.namespace)) {
      const { status } = await this.request('POST', path, { body });
      if (status !== 201) throw new Error(`${path} was refused with ${status}`);
      this.#refusing.unshift(`${path}/${name}`);
    }
    await this.eventually('a refusal', async () => ((await this.#isRefused()) ? true : undefined));
    return name;
  }

  /** Takes back who refuses, and waits until nobody does. */
  async #forgive(): Promise<void> {
    for (const path of this.#refusing.splice(0)) await this.request('DELETE', path);
    await this.eventually('no refusal', async () => ((await this.#isRefused()) ? undefined : true));
  }

  async #isRefused(): Promise<boolean> {
    const pods = `/api/v1/namespaces/${this.namespace}/pods`;
    const spec = { containers: [{ name: 'main', image: FORBIDDEN_IMAGE }] };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'probe' }, spec };
    return (await this.request('POST', pods, { body, query: { dryRun: 'All' } })).status !== 201;
  }

  program(program: Program): { readonly image: string; readonly command?: readonly string[] } {
    const [image, script] = PROGRAMS[program];
    return script === undefined ? { image } : { image, command: ['/bin/sh', '-c', script] };
  }

  /** Ends the streams and leaves the namespace to be deleted. */
  async dispose(): Promise<void> {
    for (const watching of this.#open) watching.close();
    for (const path of this.#refusing) await this.request('DELETE', path);
    await this.request('DELETE', `/api/v1/namespaces/${this.namespace}`);
    this.#transport.close();
  }

  async #prepare(): Promise<void> {
    for (const body of definitions) {
      await this.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
    }
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    const made = await this.request('POST', '/api/v1/namespaces', { body });
    if (made.status !== 201) throw new Error(`namespace ${this.namespace}: ${JSON.stringify(made.body)}`);
    await this.eventually('the default service account', async () => {
      const account = await this.request('GET', `/api/v1/namespaces/${this.namespace}/serviceaccounts/default`);
      return account.status === 200 ? true : undefined;
    });
    await this.eventually('the custom resource', async () => {
      const list = await this.request('GET', `/apis/conformance.ome.test/v1/namespaces/${this.namespace}/widgets`);
      return list.status === 200 ? true : undefined;
    });
  }
}

/** Runs a case in a namespace of its own on the cluster that a kubeconfig names. */
export async function onRealCluster(one: Case, kubeconfig: string): Promise<void> {
  const bed = await RealBed.create(kubeconfig);
  try {
    await one.run(bed);
  } finally {
    await bed.dispose();
  }
}
