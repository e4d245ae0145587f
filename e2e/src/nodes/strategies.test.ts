/** Every strategy, for single pods and for gangs, rolled time and again under a client that opens a connection a request. */
import { beforeAll, expect, it } from '@jest/globals';
import { label } from '@omenative/api';
import type { PodHistory } from './testing/history.js';
import {
  type InferenceReplica,
  inferenceReplicas,
  inferenceServices,
  instanceOf,
  type Pod,
  servingRuntimes,
} from './testing/objects.js';
import { type ProbeReport, textOf } from './testing/prober.js';
import { convergedAt } from './testing/steps.js';
import { type Bed, describeOnNodes } from './testing/suite.js';
import { bareRuntime, serviceOf, shapeOf, type Workload } from './testing/workload.js';

const stepMs = 90_000;
const replicas = 2;
const rolls = process.env['OME_SOAK'] === '1' ? 10 : 3;
const images = ['busybox:v1', 'busybox:v2', 'busybox:v3'];
const imageOf = (roll: number): string => images[roll % images.length] ?? '';

/** A workload with what was seen of it. */
class Subject {
  readonly workload: Workload;
  readonly #bed: Bed;
  #history: PodHistory | undefined;

  constructor(bed: Bed, workload: Omit<Workload, 'replicas' | 'image'>) {
    this.#bed = bed;
    this.workload = { ...workload, replicas, image: imageOf(0) };
  }

  get history(): PodHistory {
    if (this.#history === undefined) throw new Error(`${this.workload.name} has not begun`);
    return this.#history;
  }

  get irep(): string {
    return `${this.workload.name}-engine`;
  }

  async begin(): Promise<void> {
    const { api } = this.#bed;
    this.#history = await this.#bed.watchPods(`${label.inferenceService}=${this.workload.name}`);
    await api.create(inferenceServices, serviceOf(this.workload));
    await this.#converged(0);
  }

  /** Rolls it through the images under requests, and tells what became of those. */
  async roll(): Promise<ProbeReport> {
    const prober = await this.#bed.probe(this.irep);
    for (let roll = 1; roll <= rolls; roll++) {
      const engine = shapeOf(this.workload, imageOf(roll));
      await this.#bed.api.merge(inferenceServices, this.workload.name, { spec: { engine } });
      await this.#converged(roll);
    }
    return prober.stop();
  }

  async #converged(roll: number): Promise<InferenceReplica> {
    const { api } = this.#bed;
    const pods = replicas * (1 + (this.workload.workers ?? 0));
    return api.waitFor(`${this.irep} runs ${imageOf(roll)}`, stepMs, async () => {
      const all = this.history.pods;
      const isRolled = all.length === pods && all.every((pod) => imagesIn(pod).every((one) => one === imageOf(roll)));
      if (!isRolled) return undefined;
      const found = await api.get(inferenceReplicas, this.irep);
      return convergedAt(found, replicas) && found;
    });
  }
}

function imagesIn(pod: Pod): readonly string[] {
  const { containers = [] } = pod.spec as { readonly containers?: readonly { readonly image: string }[] };
  return containers.map(({ image }) => image);
}

/** @throws Error when pods of two revisions ever stood for one Instance, dying ones included. */
function expectOneRevisionEach(history: PodHistory): void {
  for (const { all } of history.changes) {
    const revisions = new Map<number, string>();
    for (const pod of all) {
      const hash = pod.metadata.labels?.[label.revisionHash] ?? '';
      const other = revisions.get(instanceOf(pod)) ?? hash;
      if (other !== hash) throw new Error(`Instance ${instanceOf(pod)} had pods of ${other} and ${hash} at once`);
      revisions.set(instanceOf(pod), hash);
    }
  }
}

/** Where the pods are that run the Instances, by UID. */
function placesOf(history: PodHistory): readonly string[] {
  return history.pods.map(({ metadata, spec }) => `${metadata.uid} on ${spec.nodeName}`).toSorted();
}

describeOnNodes('update strategies', { name: 'strategies' }, (bed) => {
  beforeAll(bed.explained(async () => void (await bed.api.create(servingRuntimes, bareRuntime))));

  it(
    'replace single pods one after the other without a failed request; in place, a pod keeps its UID and its node [E30] [E79]',
    bed.explained(async () => {
      const surge = new Subject(bed, { name: 'surge', strategy: 'SurgeThenDrain' });
      const recreate = new Subject(bed, { name: 'recreate', strategy: 'RecreatePod' });
      const inPlace = new Subject(bed, { name: 'in-place', strategy: 'InPlaceIfPossible' });
      const only = new Subject(bed, { name: 'in-place-only', strategy: 'InPlaceOnly' });
      const subjects = [surge, recreate, inPlace, only];
      await Promise.all(subjects.map((subject) => subject.begin()));
      const before = [inPlace, only].map(({ history }) => placesOf(history));
      const reports = await Promise.all(subjects.map((subject) => subject.roll()));
      expect(reports.map(textOf)).toEqual(subjects.map(() => expect.stringMatching(/^0 of [0-9]{3,}/)));
      expect([inPlace, only].map(({ history }) => placesOf(history))).toEqual(before);
      surge.history.expectAtMost(replicas + 1);
      for (const { history } of [recreate, inPlace, only]) history.expectAtMost(replicas);
      for (const { history } of subjects) history.expectDrainedBeforeDeletion();
    }),
    rolls * stepMs,
  );

  it(
    'replace gangs whole without a failed request: never pods of two revisions in one [E59] [E38]',
    bed.explained(async () => {
      const surge = new Subject(bed, { name: 'gang-surge', strategy: 'SurgeThenDrain', workers: 1 });
      const recreate = new Subject(bed, { name: 'gang-recreate', strategy: 'RecreatePod', workers: 1 });
      const inPlace = new Subject(bed, { name: 'gang-in-place', strategy: 'InPlaceIfPossible', workers: 1 });
      const subjects = [surge, recreate, inPlace];
      await Promise.all(subjects.map((subject) => subject.begin()));
      const reports = await Promise.all(subjects.map((subject) => subject.roll()));
      expect(reports.map(textOf)).toEqual(subjects.map(() => expect.stringMatching(/^0 of [0-9]{3,}/)));
      surge.history.expectAtMost((replicas + 1) * 2);
      for (const { history } of [recreate, inPlace]) history.expectAtMost(replicas * 2);
      for (const { history } of subjects) {
        expectOneRevisionEach(history);
        history.expectDrainedBeforeDeletion();
      }
    }),
    rolls * stepMs,
  );
});
