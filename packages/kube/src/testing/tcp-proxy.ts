/** A TCP proxy on 127.0.0.1 with the faults of real networks: silence, cuts, delay. What flows through it may be TLS. */
import net, { type AddressInfo } from 'node:net';
import type { Runtime } from '../runtime.js';

interface Pair {
  readonly inner: net.Socket;
  readonly outer: net.Socket;
}

export class TcpProxy {
  readonly #server: net.Server;
  readonly #runtime: Runtime;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs: Set<Pair> = new Set();
  #stalled = false;
  /** Milliseconds by which what the target sends is held back. */
  delayMs = 0;
  /** Connections accepted since the start. */
  accepted = 0;

  private constructor(runtime: Runtime, target: { readonly host: string; readonly port: number }) {
    this.#runtime = runtime;
    this.#target = target;
    this.#server = net.createServer((outer) => this.#connect(outer));
  }

  static async start(runtime: Runtime, target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(runtime, target);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that the client holds open now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** From now on nothing comes through from the target, while every connection stays up, as behind a dead balancer. */
  stall(): void {
    this.#stalled = true;
  }

  /** New connections work again; those that were stalled stay so, for what they swallowed is lost. */
  recover(): void {
    this.#stalled = false;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { outer, inner } of this.#pairs) {
      outer.resetAndDestroy();
      inner.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #connect(outer: net.Socket): void {
    this.accepted++;
    const inner = net.connect(this.#target.port, this.#target.host);
    const pair = { inner, outer };
    this.#pairs.add(pair);
    let swallowing = false;
    outer.on('data', (chunk) => inner.write(chunk));
    inner.on('data', (chunk) => {
      swallowing ||= this.#stalled;
      if (swallowing) return;
      if (this.delayMs === 0) outer.write(chunk);
      else this.#runtime.setTimer(this.delayMs, () => outer.write(chunk));
    });
    const end = (): void => {
      this.#pairs.delete(pair);
      outer.destroy();
      inner.destroy();
    };
    for (const socket of [outer, inner]) {
      socket.on('error', end);
      socket.on('close', () => {
        if (!swallowing || socket === outer) end();
      });
    }
  }
}
