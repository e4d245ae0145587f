/** A complete list in pages: one consistent state, however many requests it takes. */
import { readListPage } from '../client.js';
import { isNewer } from '../resource-version.js';
import { type Runtime, sleep } from '../runtime.js';
import { Slice } from '../slice.js';
import type { ApiResponse, Transport, WatchEnd } from '../transport.js';
import type { Replacement } from './stream.js';

/** Which collection. */
export interface ListTarget {
  /** For people. */
  readonly kind: string;
  readonly path: string;
  /** Label and field selectors as the server takes them. */
  readonly selectors: Readonly<Record<string, string>>;
}

export interface PagedListOptions extends ListTarget {
  readonly transport: Transport;
  readonly runtime: Runtime;
}

export interface PagedListSink {
  onPage(): void;
  /** The whole list is in the replacement, as it was at `resourceVersion`. */
  onComplete(resourceVersion: string): void;
  /** It will not be completed: a refusal, or no answer. */
  onEnd(end: WatchEnd): void;
}

const pageSize = 500;
const deadlineMs = 60_000;

export class PagedList {
  readonly #options: PagedListOptions;
  readonly #floor: string;
  readonly #replacement: Replacement;
  readonly #sink: PagedListSink;
  #cancelled = false;

  /** `floor`: the list must be at least this new; empty for the newest. */
  constructor(options: PagedListOptions, floor: string, replacement: Replacement, sink: PagedListSink) {
    this.#options = options;
    this.#floor = floor;
    this.#replacement = replacement;
    this.#sink = sink;
  }

  /** Calls `onComplete` or `onEnd`, once, unless it is cancelled. */
  start(): void {
    void this.#run();
  }

  /** The sink hears nothing after this returns. */
  cancel(): void {
    this.#cancelled = true;
  }

  async #run(): Promise<void> {
    try {
      let continueToken: string | undefined;
      let resourceVersion = '';
      do {
        const response = await this.#requestPage(continueToken);
        if (this.#cancelled) return;
        if (response.status !== 200) {
          this.#sink.onEnd({ how: 'response', response });
          return;
        }
        this.#sink.onPage();
        const page = readListPage(response.body);
        if (page.resourceVersion === '') throw new Error('the list carries no resourceVersion');
        // Pages of one list are of one state; a server that says otherwise is taken at the older word.
        if (resourceVersion === '' || isNewer(resourceVersion, page.resourceVersion))
          resourceVersion = page.resourceVersion;
        await this.#apply(page.items);
        if (this.#cancelled) return;
        ({ continueToken } = page);
      } while (continueToken !== undefined);
      this.#sink.onComplete(resourceVersion);
    } catch (error) {
      if (!this.#cancelled) this.#sink.onEnd({ how: 'broken', error: error as Error });
    }
  }

  #requestPage(continueToken: string | undefined): Promise<ApiResponse> {
    const { transport, path, selectors } = this.#options;
    const query: Record<string, string> = { ...selectors, limit: String(pageSize) };
    if (continueToken !== undefined) query['continue'] = continueToken;
    else if (this.#floor !== '')
      Object.assign(query, { resourceVersion: this.#floor, resourceVersionMatch: 'NotOlderThan' });
    return transport.request({ method: 'GET', path, query, deadlineMs });
  }

  async #apply(items: readonly unknown[]): Promise<void> {
    const slice = new Slice(this.#options.runtime);
    for (const item of items) {
      if (slice.isUsedUp()) {
        await sleep(this.#options.runtime, 0);
        if (this.#cancelled) return;
        slice.restart();
      }
      this.#replacement.apply('ADDED', item);
    }
  }
}
