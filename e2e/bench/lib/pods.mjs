// The pods of a namespace as a client sees them come, get ready and go: the same clock for every workload.
import { servingCondition } from '@omenative/api';
import { Informer } from '@omenative/kube';

const podType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

export class PodWatch {
  #informer;
  #waits = [];
  /** Changes heard since the start. */
  changes = 0;

  constructor({ transport, runtime, namespace }) {
    this.#informer = new Informer({
      transport,
      runtime,
      type: podType,
      namespace,
      project: viewOf,
      report: ({ message }) => console.error(`  watching the pods of ${namespace}: ${message}`),
    });
    this.#informer.subscribe(({ old, now }) => this.#count(old, now));
    this.#informer.start();
  }

  #pods = 0;
  #ready = 0;
  #running = 0;
  #open = 0;
  #counted = new Map();

  get pods() {
    return this.#pods;
  }

  get ready() {
    return this.#ready;
  }

  /** How many pods have all their containers ready. */
  get running() {
    return this.#running;
  }

  /** How many pods have their readiness gate open. */
  get open() {
    return this.#open;
  }

  /** How many pods are ready and run `image`. */
  readyOn(image) {
    return this.#counted.get(image) ?? 0;
  }

  /** UIDs of all pods. */
  uids() {
    return new Set([...this.#informer.store.values()].map(({ uid }) => uid));
  }

  whenSynced() {
    return this.#informer.whenSynced();
  }

  /**
   * Resolves with the moment, as performance.now() has it, at which a change made `isSo` true.
   *
   * @param {string} what
   * @param {() => boolean} isSo
   * @param {number} withinMs
   * @returns {Promise<number>}
   */
  when(what, isSo, withinMs = 300_000) {
    if (isSo()) return Promise.resolve(performance.now());
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`not within ${withinMs / 1000} s: ${what} (${this.#pods} pods, ${this.#ready} ready)`));
      const timer = setTimeout(late, withinMs);
      this.#waits.push({
        isSo,
        resolve: (atMs) => {
          clearTimeout(timer);
          resolve(atMs);
        },
      });
    });
  }

  stop() {
    this.#informer.stop();
  }

  #count(old, now) {
    this.changes++;
    if (old === undefined) this.#pods++;
    if (now === undefined) this.#pods--;
    this.#running += Number(now?.running ?? false) - Number(old?.running ?? false);
    this.#open += Number(now?.open ?? false) - Number(old?.open ?? false);
    if (old?.ready) this.#add(old.image, -1);
    if (now?.ready) this.#add(now.image, 1);
    const atMs = performance.now();
    this.#waits = this.#waits.filter(({ isSo, resolve }) => {
      if (!isSo()) return true;
      resolve(atMs);
      return false;
    });
  }

  #add(image, difference) {
    this.#ready += difference;
    this.#counted.set(image, (this.#counted.get(image) ?? 0) + difference);
  }
}

function viewOf({ metadata, spec, status }) {
  const is = (name) =>
    status?.conditions?.some((condition) => condition.type === name && condition.status === 'True') ?? false;
  return {
    uid: metadata.uid,
    image: spec.containers[0]?.image,
    running: is('ContainersReady'),
    open: is(servingCondition),
    ready: is('Ready'),
  };
}
