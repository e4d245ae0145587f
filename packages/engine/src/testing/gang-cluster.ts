/** A toy cluster that watches over gangs: what must hold after every pass, and how many of them serve as a whole. */
import type { Index } from '@omenative/api';
import type { Plan } from '../plan-types.js';
import type { PodView } from '../snapshot.js';
import { isServing } from '../units.js';
import { ToyCluster } from './toy-cluster.js';

export class GangCluster extends ToyCluster {
  /** The most Instances that had pods after any pass, dying ones included, since this was last set. */
  mostInstances = 0;
  readonly #sizes: Map<string, number> = new Map();

  /** Throws when a pass mixes revisions in one life of a gang, or takes out a gang that serves and has no replacement. */
  override pass(): Plan {
    const before = this.wholeGangs();
    const made = super.pass();
    this.#checkLives();
    const after = this.wholeGangs();
    for (const index of before) if (!after.has(index)) this.#checkLoss(index, after);
    this.mostInstances = Math.max(this.mostInstances, this.#podsByIndex().size);
    return made;
  }

  override servingInstances(): number {
    const routed = new Set(this.serving().split(', '));
    const isRouted = (index: Index): boolean => [...routed].some((name) => name.startsWith(`${index}-`));
    return [...this.wholeGangs()].filter(isRouted).length;
  }

  /** Every Instance is Ready on the revision of `image`. */
  isOn(image: string): boolean {
    const rows = [...this.status.rows.values()];
    return rows.length > 0 && rows.every((row) => row.kind === 'ready' && row.running === this.revision(image));
  }

  /** Instances all of whose members are in rotation, or the one pod of a single-pod one. */
  wholeGangs(): ReadonlySet<Index> {
    const whole = [...this.#podsByIndex()].filter(([, pods]) => {
      const serving = pods.filter(isServing);
      const lead = serving.find((pod) => pod.runner !== 'worker');
      if (lead === undefined) return false;
      const life = serving.filter((pod) => pod.incarnation === lead.incarnation);
      return lead.runner === 'default' || life.length === this.#sizeOf(lead.revisionHash);
    });
    return new Set(whole.map(([index]) => index));
  }

  /** Pods of one Instance at the revision with this hash. */
  #sizeOf(hash: string): number {
    const known = this.#sizes.get(hash);
    if (known !== undefined) return known;
    for (const stored of this.snapshot(new Set()).revisions.values()) {
      if (stored === 'gone' || stored.hash !== hash) continue;
      const size = stored.payload.runners.reduce((sum, runner) => sum + runner.size, 0);
      this.#sizes.set(hash, size);
      return size;
    }
    throw new Error(`pods of revision ${hash}, which nobody stored: ${this.podNames()}`);
  }

  #podsByIndex(): ReadonlyMap<Index, readonly PodView[]> {
    const grouped = new Map<Index, PodView[]>();
    for (const pod of this.pods.values()) grouped.set(pod.index, [...(grouped.get(pod.index) ?? []), pod]);
    return grouped;
  }

  #checkLives(): void {
    const lives = new Map<string, string>();
    for (const { index, incarnation, revisionHash, runner } of this.pods.values()) {
      const life = `${index}/${incarnation ?? ''}`;
      if (runner !== 'default' && (lives.get(life) ?? revisionHash) !== revisionHash) {
        throw new Error(`two revisions in life ${life}: ${this.podNames()}`);
      }
      if (runner !== 'default') lives.set(life, revisionHash);
    }
  }

  #checkLoss(index: Index, after: ReadonlySet<Index>): void {
    const row = this.row(index);
    // The marker of a pair goes when its replacement is given up, and an update that recreates takes its own gang out.
    if (row === undefined || row.kind === 'deleting' || row.kind === 'gangTo') return;
    if (row.kind === 'updating' && (row.op.step === 'Drain' || row.op.step === 'InPlace')) return;
    if (row.kind === 'gangFrom' && after.has(row.op.surgeIndex)) return;
    throw new Error(`Instance ${index} (${row.kind}) was taken out: ${this.rows()}; ${this.podNames()}`);
  }
}
