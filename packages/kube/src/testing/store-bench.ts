/** A cache of pods without a stream, fed by hand, that writes down what it tells. */
import { ObjectStore, type StoreProblem } from '../cache/object-store.js';
import type { Change } from '../cache/store.js';
import type { RawPod } from './objects.js';
import { VirtualRuntime } from './virtual-runtime.js';

export interface PodView {
  readonly name: string;
  readonly version: string;
  /** Label `node`, by which the index `node` finds the pod. */
  readonly node: string | undefined;
}

export class StoreBench {
  readonly changes: Change<PodView>[] = [];
  readonly problems: StoreProblem[] = [];
  readonly store: ObjectStore<PodView>;

  /** A pod with the label `broken` cannot be projected, one on node `unfit` not indexed, one with `foreign` is out of scope. */
  constructor(maxTombstones = 100) {
    this.store = new ObjectStore<PodView>({
      runtime: new VirtualRuntime(),
      kind: 'pods',
      project: (raw) => {
        const { labels = {}, name = '', resourceVersion = '' } = raw.metadata ?? {};
        if (labels['broken'] !== undefined) throw new Error(labels['broken']);
        return { name, version: resourceVersion, node: labels['node'] };
      },
      indexes: {
        node: ({ node }) => (node === undefined ? [] : [node]),
        strict: ({ node }) => {
          if (node === 'unfit') throw new Error('unfit for the index');
          return [];
        },
      },
      isProofOfDeletion: (raw) =>
        raw.metadata?.deletionTimestamp !== undefined || (raw as RawPod).status.phase === 'Failed',
      inScope: (raw) => raw.metadata?.labels?.['foreign'] === undefined,
      maxTombstones,
      report: (problem) => this.problems.push(problem),
    });
    this.store.subscribe((change) => this.changes.push(change));
  }

  /** Feeds a complete list. */
  list(pods: readonly RawPod[], resourceVersion: string | number): 'committed' | 'older' {
    const replacement = this.store.beginReplacement();
    for (const pod of pods) replacement.apply('ADDED', pod);
    return replacement.commit(String(resourceVersion));
  }

  /** What changed since the last call, in short: `+a@5`, `~a@6`, `-a`, `-a!` with proof. */
  told(): string[] {
    return this.changes.splice(0).map(({ old, now, meta, proof }) => {
      if (now !== undefined) return `${old === undefined ? '+' : '~'}${meta.name}@${now.version}`;
      return `-${meta.name}${proof === undefined ? '' : '!'}`;
    });
  }

  names(): string[] {
    return [...this.store.values()].map(({ name }) => name).toSorted();
  }
}
