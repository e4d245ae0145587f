/**
 * Asks the API server whether it would take the pods of a revision before any Instance moves to it: one pod of each runner is
 * created as a dry run. A refusal then costs nothing, where later it would cost an Instance. Soft: what is known may be lost
 * at any moment, and is asked for again.
 */
import { podName, type Rev, revisionHashOf, type Sec } from '@omenative/api';
import type { Snapshot, StoredRevision, TemplateCheck } from '@omenative/engine';
import { ApiError, type Client, classify, type Runtime } from '@omenative/kube';
import type { Limiter } from '../shared/limiter.js';
import { podType } from '../shared/resources.js';
import { wordsOf } from './act/outcome.js';
import type { Observation } from './observe.js';
import { renderPod } from './render.js';

/** One answer, and for how long it is good. */
interface Known {
  readonly check: TemplateCheck;
  /** Generation of the replica that was asked about. */
  readonly generation: number;
  /** Seconds; absent: the answer stays good. */
  readonly goodUntil?: Sec;
  /** Times in a row that nobody answered. */
  readonly failures: number;
}

/** Policies, priority classes and service accounts change without any event of ours. */
const askRefusedAgainSec = 300;
const firstRetrySec = 2;
const lastRetrySec = 60;
/** A webhook may take its time; the other Instances of the replica must not wait for it much longer. */
const deadlineMs = 10_000;

export interface TemplateChecksOptions {
  readonly client: Client;
  readonly runtime: Runtime;
  /** Shared with all other writes: the requests in flight. */
  readonly limiter: Limiter;
}

/** The answers of the API server, by replica. */
export class TemplateChecks {
  readonly #options: TemplateChecksOptions;
  readonly #known: Map<string, Known> = new Map();

  constructor(options: TemplateChecksOptions) {
    // What is refused for now is asked again by a later pass, not by one that other Instances wait for.
    this.#options = { ...options, client: options.client.withRetry({ maxAttempts: 1, maxWaitMs: 0 }) };
  }

  /**
   * The answer about the target, asked for when it is not known; undefined when no Instance has to move to it.
   * `onRefused` is called with each refusal that was not known before.
   *
   * @throws Error for a fault of our own; what the server or the network does is an answer.
   */
  async of(observation: Observation, onRefused: (message: string) => void): Promise<TemplateCheck | undefined> {
    const { snapshot } = observation;
    const { uid, generation } = snapshot.replica;
    const target = isMoveAhead(snapshot) ? targetRevision(snapshot) : undefined;
    if (target === undefined) {
      this.#known.delete(uid);
      return undefined;
    }
    const before = this.#known.get(uid);
    if (before !== undefined && isGood(before, target.name, generation, snapshot.now)) return before.check;
    const answer = await this.#ask(observation, target);
    const after = knownFrom(answer, target.name, generation, this.#nowSec(), before);
    this.#known.set(uid, after);
    if (after.check.is === 'refused' && !isSameRefusal(before?.check, after.check)) onRefused(after.check.message);
    return after.check;
  }

  /** When the server is to be asked again about a replica; undefined when there is nothing to ask. */
  againAt(replicaUid: string): Sec | undefined {
    return this.#known.get(replicaUid)?.goodUntil;
  }

  /** The replica is no more. */
  forget(replicaUid: string): void {
    this.#known.delete(replicaUid);
  }

  async #ask(observation: Observation, revision: StoredRevision): Promise<Answer> {
    const { client, limiter } = this.#options;
    for (const { pod, name } of samplesOf(observation, revision)) {
      try {
        await limiter.run(() => client.create(podType, pod, { dryRun: 'All', deadlineMs }));
      } catch (error) {
        const answer = answerOf(error);
        if (answer.is !== 'accepted') return { ...answer, message: answer.message.replaceAll(sampleName(name), name) };
      }
    }
    return { is: 'accepted' };
  }

  #nowSec(): Sec {
    return Math.floor(this.#options.runtime.nowMs() / 1000);
  }
}

/** Whether an Instance runs another revision than it should and may be moved. */
function isMoveAhead(snapshot: Snapshot): boolean {
  if (snapshot.replica.deletingSince !== undefined || snapshot.spec.pause !== 'running') return false;
  return [...snapshot.status.rows.values()].some(
    (row) => row.kind !== 'deleting' && row.running !== '' && row.running !== snapshot.target,
  );
}

/** Undefined when the revision to roll back to is gone: there is nothing to make a pod from. */
function targetRevision(snapshot: Snapshot): StoredRevision | undefined {
  const { target, spec } = snapshot;
  const stored = snapshot.revisions.get(target);
  if (stored !== undefined && stored !== 'gone') return stored;
  // The spec's own is stored only after the plan has asked for it.
  if (target !== snapshot.specRevision) return undefined;
  return { name: target, uid: '', hash: revisionHashOf(target), number: 0, payload: spec.payload };
}

interface Sample {
  /** The name that the pod itself would get. */
  readonly name: string;
  readonly pod: Readonly<Record<string, unknown>> & { readonly metadata: { readonly namespace: string } };
}

/** The last pod of each runner, of the highest Instance: the one with the longest name. */
function samplesOf(observation: Observation, revision: StoredRevision): readonly Sample[] {
  const { snapshot, live } = observation;
  const { replica, spec } = snapshot;
  const index = Math.max(0, ...snapshot.status.rows.keys());
  const incarnation = snapshot.status.rows.get(index)?.incarnation ?? 1;
  return revision.payload.runners.map(({ name: runner, size }) => {
    const ordinal = size - 1;
    const pod = { index, incarnation, runner, ordinal, avoidNodes: [] };
    const rendered = renderPod({ replica, spec, live, revision, pod });
    const name = podName(spec.owner, spec.component, index, runner, ordinal);
    const metadata = rendered['metadata'] as Sample['pod']['metadata'];
    return { name, pod: { ...rendered, metadata: { ...metadata, name: sampleName(name) } } };
  });
}

/** Free, since no pod of ours ends so, and the same each time, so that a refusal is the same text each time. */
function sampleName(name: string): string {
  return `${name}-dry-run`;
}

type Answer =
  | { readonly is: 'accepted' }
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'none'; readonly message: string; readonly waitMs: number };

function answerOf(error: unknown): Answer {
  const message = wordsOf(error);
  switch (classify(error)) {
    // Said only after everything else has agreed: a quota is the last in the chain, a name is looked up behind it.
    case 'quota':
    case 'alreadyExists':
      return { is: 'accepted' };
    case 'badRequest':
      // A webhook with side effects can't be asked in this way, so its answer has to wait for the pod itself.
      return message.includes('does not support dry run') ? { is: 'accepted' } : { is: 'refused', message };
    case 'invalid':
    case 'forbidden':
    case 'unsupported':
    case 'tooLarge':
      return { is: 'refused', message };
    case 'conflict':
    case 'notFound':
    case 'expired':
    case 'namespaceTerminating':
    case 'notPermitted':
    case 'unauthorized':
    case 'throttled':
    case 'admissionUnavailable':
    case 'unavailable':
    case 'fenced':
    case 'serverError':
    case 'unknown':
      return { is: 'none', message, waitMs: error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0 };
    case 'local':
      throw error;
  }
}

function knownFrom(answer: Answer, rev: Rev, generation: number, now: Sec, before: Known | undefined): Known {
  switch (answer.is) {
    case 'accepted':
      return { check: { of: rev, is: 'accepted' }, generation, failures: 0 };
    case 'refused': {
      const check = { of: rev, is: 'refused', message: answer.message } as const;
      return { check, generation, goodUntil: now + askRefusedAgainSec, failures: 0 };
    }
    case 'none': {
      const failures = before?.check.of === rev ? before.failures + 1 : 1;
      const pauseSec = Math.min(lastRetrySec, firstRetrySec * 2 ** (failures - 1));
      const retryAt = now + Math.max(pauseSec, Math.ceil(answer.waitMs / 1000));
      const stillRefused = before?.check.is === 'refused' && isAbout(before, rev, generation);
      const check = stillRefused
        ? before.check
        : ({ of: rev, is: 'unknown', retryAt, text: unasked(rev, answer.message) } as const);
      return { check, generation, goodUntil: retryAt, failures };
    }
  }
}

function unasked(rev: Rev, words: string): string {
  return `nobody can say yet whether the API server takes the pods of ${rev}: ${words}`;
}

/** What was accepted stays so; anything else is asked again when the spec has changed, or when its time is up. */
function isGood(known: Known, rev: Rev, generation: number, now: Sec): boolean {
  if (known.check.is === 'accepted') return known.check.of === rev;
  return isAbout(known, rev, generation) && known.goodUntil !== undefined && now < known.goodUntil;
}

function isAbout(known: Known, rev: Rev, generation: number): boolean {
  return known.check.of === rev && known.generation === generation;
}

function isSameRefusal(a: TemplateCheck | undefined, b: TemplateCheck & { readonly is: 'refused' }): boolean {
  return a?.is === 'refused' && a.of === b.of && a.message === b.message;
}
