/** Tells the news as they come in, alike ones that come together in one line. */
import type { Runtime, Timer } from '@omenative/kube';
import type { News } from './news.js';
import type { Screen } from './screen.js';

/** Milliseconds for which news wait for others of their kind. */
const gatherMs = 120;

export class Narrator {
  readonly #screen: Screen;
  readonly #runtime: Runtime;
  readonly #beganMs: number;
  /** By topic and what happened, in the order of the first of each. */
  readonly #gathered = new Map<string, { readonly news: News; readonly atMs: number; readonly names: string[] }>();
  #timer: Timer | undefined;

  constructor(screen: Screen, runtime: Runtime) {
    this.#screen = screen;
    this.#runtime = runtime;
    this.#beganMs = runtime.monotonicMs();
  }

  tell(news: News): void {
    const key = `${news.topic} ${news.what}`;
    const alike = this.#gathered.get(key);
    if (alike === undefined) {
      const atMs = this.#runtime.monotonicMs() - this.#beganMs;
      this.#gathered.set(key, { news, atMs, names: [news.name] });
    } else if (!alike.names.includes(news.name)) alike.names.push(news.name);
    this.#timer ??= this.#runtime.setTimer(gatherMs, () => this.flush());
  }

  /** Writes what is gathered, now. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const { news, atMs, names } of this.#gathered.values()) {
      this.#screen.seen(atMs, news.topic, sentence(news, names.join(', ')));
    }
    this.#gathered.clear();
  }
}

/** Of what there are many, the news come before the names. */
function sentence({ topic, what }: News, names: string): string {
  switch (topic) {
    case 'instance':
    case 'pod':
      return `${what}: ${names}`;
    case 'isvc':
    case 'endpoints':
    case 'event':
      return `${names} ${what}`;
  }
}
