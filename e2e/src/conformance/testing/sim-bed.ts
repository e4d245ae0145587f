/** Conformance cases on the simulated cluster: the same transport, and time that passes only while somebody waits. */
import { setImmediate } from 'node:timers/promises';
import type { Transport, WatchEvent } from '@omenative/kube';
import { Cluster, type Refusal, type Script } from '@omenative/sim';
import { type Answer, type Bed, FORBIDDEN_IMAGE, type Program, type Refusing, toAnswer, type Watching } from './bed.js';
import { definitions } from './definitions.js';

/** Containers in the simulation are scripts by image. */
const imageScripts: Partial<Record<`program/${Program}`, Partial<Script>>> = {
  'program/steady': { digest: 'program@sha256:steady' },
  'program/steady v2': {},
  'program/steady alias': { digest: 'program@sha256:steady' },
  'program/changing': {},
  'program/changing crashes': { exitMs: [200, 300], exitCode: 3 },
  'program/changing unready': { readyMs: 'never' },
  'program/stubborn': { onTerm: 'ignore' },
  'program/failing': { exitMs: [50, 200], exitCode: 3 },
  'program/fading': { exitMs: [4000, 4100], exitCode: 3 },
  'program/finishing': { exitMs: [50, 200], exitCode: 0 },
  'program/missing': { pull: 'fail' },
  'program/missing slowly': { pull: 'fail', pullMs: [3000, 4000] },
};

const REFUSED = 'dial tcp 127.0.0.1:1: connect: connection refused';

export class SimBed implements Bed {
  readonly cluster = 'sim';
  readonly namespace = 'conformance';
  readonly world: Cluster;
  readonly #transport: Transport;

  constructor(seed: number) {
    this.world = new Cluster({
      seed,
      startMs: Date.UTC(2026, 10, 5, 10),
      crds: definitions,
      options: { imageScripts },
    });
    for (const name of ['node-1', 'node-2']) this.world.addNode({ name });
    this.#transport = this.world.client('conformance');
    this.world.handle({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } },
    });
    this.world.runUntil(this.world.nowMs + 5000);
  }

  async request(...[method, path, parts]: Parameters<Bed['request']>): Promise<Answer> {
    const settled = { yet: false };
    const answer = this.#transport.request({ method, path, ...parts }).finally(() => {
      settled.yet = true;
    });
    while (!settled.yet) {
      this.world.step();
      await setImmediate();
    }
    return toAnswer(await answer);
  }

  watch(path: string, query: Readonly<Record<string, string>> = {}): Watching {
    return openWatching(this.#transport, path, query);
  }

  async eventually<T>(
    what: string,
    probe: () => Promise<T | undefined> | T | undefined,
    withinMs = 20_000,
  ): Promise<T> {
    const untilMs = this.world.nowMs + withinMs;
    for (;;) {
      const found = await probe();
      if (found !== undefined) return found;
      if (this.world.nowMs > untilMs) throw new Error(`not in time: ${what}\n${this.#trace()}`);
      await this.pause(20);
    }
  }

  nowMs(): number {
    return this.world.nowMs;
  }

  async pause(ms: number): Promise<void> {
    const untilMs = this.world.nowMs + ms;
    while ((this.world.nextAtMs() ?? untilMs + 1) <= untilMs) {
      this.world.step();
      if (this.world.touchedClient) await setImmediate();
    }
    this.world.advanceTo(untilMs);
  }

  refuse(refusing: Refusing): Promise<string> {
    const name = `${refusing.toLowerCase()}.${this.namespace}.test`;
    const refusal: Refusal =
      refusing === 'unreachable'
        ? { is: 'unreachable', webhook: name, url: 'https://127.0.0.1:1/', error: REFUSED }
        : { is: 'denied', policy: name, binding: name, reason: refusing, message: 'not this image' };
    this.world.hooks.admit = ({ resource, object }) => {
      if (resource !== 'pods') return undefined;
      const { containers } = object['spec'] as { readonly containers: readonly { readonly image: string }[] };
      return containers[0]?.image === FORBIDDEN_IMAGE ? refusal : undefined;
    };
    return Promise.resolve(name);
  }

  program(program: Program): { readonly image: string } {
    return { image: `program/${program}` };
  }

  #trace(): string {
    return this.world
      .trace(60)
      .map(({ atMs, text }) => `${new Date(atMs).toISOString().slice(17)} ${text}`)
      .join('\n');
  }
}

/** A stream that collects what it hears. */
export function openWatching(transport: Transport, path: string, query: Readonly<Record<string, string>>): Watching {
  const events: WatchEvent[] = [];
  const state: { ended: string | undefined } = { ended: undefined };
  const handle = transport.watch(
    { method: 'GET', path, query: { watch: 'true', ...query } },
    {
      onOpen: () => {},
      onEvent: (event) => {
        events.push(event);
      },
      onEnd: (end) => {
        state.ended = end.how === 'response' ? `${end.how} ${end.response.status}` : end.how;
      },
    },
  );
  return {
    events,
    get ended() {
      return state.ended;
    },
    close: () => handle.close(),
  };
}
