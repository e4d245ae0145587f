import { beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from './client.js';
import { checkTiming, LeaderElection, type LeaderElectionOptions } from './leader-election.js';
import type { Lease } from './lease.js';
import { sleep } from './runtime.js';
import { failure, noAnswer, ok, type ScriptedAnswer, ScriptedTransport } from './testing/scripted-transport.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';
import type { ApiRequest } from './transport.js';

const timing = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/** One Lease behind an API server that checks resourceVersions. */
class LeaseServer {
  lease: Lease | undefined;
  #version = 0;
  /** Comes before the server acts. */
  fault: (request: ApiRequest) => ScriptedAnswer | undefined = () => undefined;
  /** Whether the answer to a write that was applied is lost. */
  losesAnswers = false;

  answer(request: ApiRequest): ScriptedAnswer {
    const fault = this.fault(request);
    if (fault !== undefined) return fault;
    const sent = request.body as Lease;
    switch (request.method) {
      case 'GET':
        return this.lease === undefined ? failure(404, 'NotFound', 'no lease') : ok(this.lease);
      case 'POST':
        return this.lease === undefined ? this.#store(sent) : failure(409, 'AlreadyExists', 'there is one');
      case 'PUT':
        return sent.metadata?.resourceVersion === this.lease?.metadata?.resourceVersion
          ? this.#store(sent)
          : failure(409, 'Conflict', 'it has been modified');
      case 'PATCH':
      case 'DELETE':
        return failure(405, 'MethodNotAllowed', 'no');
    }
    return failure(400, 'BadRequest', 'no');
  }

  /** What somebody else does to the lease. */
  edit(change: Partial<Lease['spec'] & object>): void {
    this.#store({ ...this.lease, spec: { ...this.lease?.spec, ...change } });
  }

  #store(lease: Lease): ScriptedAnswer {
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    return this.losesAnswers ? noAnswer() : ok(this.lease);
  }
}

describe('LeaderElection', () => {
  let runtime: VirtualRuntime;
  let server: LeaseServer;
  let transport: ScriptedTransport;
  let log: string[];

  function candidate(identity: string, options: Partial<LeaderElectionOptions> = {}): LeaderElection {
    return new LeaderElection({
      client: new Client({ transport, runtime }),
      runtime,
      namespace: 'system',
      name: 'lock',
      identity,
      ...timing,
      onAcquired: () => log.push(`${identity} acquired`),
      onLost: (why) => log.push(`${identity} lost: ${why}`),
      report: (message) => log.push(`${identity}: ${message}`),
      ...options,
    });
  }

  async function leader(identity: string): Promise<LeaderElection> {
    const election = candidate(identity);
    election.start();
    await runtime.advance(0);
    expect(election.isHeld()).toBe(true);
    log = [];
    return election;
  }

  /** The next request is carried out at once, and answered so much later. */
  function answersLate(delayMs: number): void {
    transport.answerNext(async (request) => {
      const answer = server.answer(request);
      await sleep(runtime, delayMs);
      return answer;
    });
  }

  function writes(): number {
    return transport.requests.filter(({ method }) => method !== 'GET').length;
  }

  beforeEach(() => {
    runtime = new VirtualRuntime();
    server = new LeaseServer();
    transport = new ScriptedTransport((request) => server.answer(request));
    log = [];
  });

  it('takes a lease that nobody has, and writes it as others do', async () => {
    const election = candidate('one');
    expect([election.isHeld(), election.fence().open]).toEqual([false, false]);
    election.start();
    election.start();
    await runtime.advance(0);
    expect([election.isHeld(), election.fence(), election.holder]).toEqual([true, { open: true }, 'one']);
    expect(log).toEqual(['one acquired']);
    expect(server.lease).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'system', name: 'lock', resourceVersion: '1' },
      spec: {
        holderIdentity: 'one',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    });
  });

  it('renews on the beat, with one write each time', async () => {
    await leader('one');
    const before = transport.requests.length;
    await runtime.advance(20_000);
    expect(transport.requests.length - before).toBe(10);
    expect(writes()).toBe(11);
    expect(server.lease?.spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:20.000000Z',
      leaseTransitions: 0,
    });
  });

  it('leaves a living leader alone', async () => {
    await leader('one');
    const second = candidate('two');
    second.start();
    await runtime.advance(120_000);
    expect([second.isHeld(), second.holder, log]).toEqual([false, 'one', []]);
  });

  it('takes over from a leader that went silent, after the lease has stood still for its duration before our eyes', async () => {
    server.lease = {
      metadata: { namespace: 'system', name: 'lock', resourceVersion: '0' },
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 15,
        // By the clock of the dead: long ago, or in the future. It must not matter.
        renewTime: '2020-01-01T00:00:00.000000Z',
        acquireTime: '2020-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    };
    const election = candidate('one');
    election.start();
    await runtime.advance(14_900);
    expect([election.isHeld(), writes()]).toEqual([false, 0]);
    runtime.stepWallClock(-3_600_000);
    await runtime.advance(2600);
    expect(election.isHeld()).toBe(true);
    expect(server.lease.spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 5 });
    expect(server.lease.spec?.acquireTime).toBe(server.lease.spec?.renewTime);
  });

  it('believes the duration that the holder has written', async () => {
    server.lease = {
      metadata: { namespace: 'system', name: 'lock', resourceVersion: '0' },
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 60 },
    };
    const election = candidate('one');
    election.start();
    await runtime.advance(59_900);
    expect(election.isHeld()).toBe(false);
    await runtime.advance(2600);
    expect(election.isHeld()).toBe(true);
  });

  it('never lets two lead, whoever is fast', async () => {
    const all = ['one', 'two', 'three'].map((identity) => candidate(identity));
    for (const one of all) one.start();
    for (let i = 0; i < 100; i++) {
      await runtime.advance(997);
      expect(all.filter((one) => one.isHeld())).toHaveLength(1);
    }
    expect(log).toHaveLength(1);
  });

  it('writes the whole of a fraction of a second', async () => {
    candidate('one', { leaseDurationMs: 15_001 }).start();
    await runtime.advance(0);
    expect(server.lease?.spec?.leaseDurationSeconds).toBe(16);
  });

  it('keeps what others have put into the lease', async () => {
    await leader('one');
    server.lease = { ...server.lease, metadata: { ...server.lease?.metadata, labels: { a: 'b' } } };
    server.edit({});
    await runtime.advance(10_000);
    expect(server.lease.metadata?.labels).toEqual({ a: 'b' });
    expect(log).toEqual([]);
  });

  it('does not lead on an answer that comes after its deadline [B40]', async () => {
    answersLate(0);
    answersLate(12_000);
    const election = candidate('one');
    election.start();
    await runtime.advance(12_000);
    expect([server.lease?.spec?.holderIdentity, election.isHeld(), log]).toEqual(['one', false, []]);
    await runtime.advance(2400);
    expect([election.isHeld(), log]).toEqual([true, ['one acquired']]);
  });

  describe('when renewal fails', () => {
    it('holds on for a while, and then shuts the fence before anything else [B40]', async () => {
      const shutAt: number[] = [];
      let election: LeaderElection | undefined;
      election = candidate('one', {
        onLost: (why) => log.push(`lost, fence open: ${String(election?.fence().open)}: ${why}`),
      });
      election.start();
      await runtime.advance(1000);
      server.fault = () => failure(500, 'InternalError', 'down');
      await runtime.advance(8999);
      expect(election.isHeld()).toBe(true);
      await runtime.advance(1);
      shutAt.push(runtime.monotonicMs());
      expect(election.isHeld()).toBe(false);
      expect(log.at(-1)).toBe('lost, fence open: false: it was not renewed within 10 s');
      server.fault = () => undefined;
      const before = transport.requests.length;
      await runtime.advance(100_000);
      expect([election.isHeld(), transport.requests.length - before]).toEqual([false, 0]);
      expect(log.filter((line) => line.startsWith('lost'))).toHaveLength(1);
    });

    it('counts from when the last renewal was sent, not answered [B40]', async () => {
      const election = await leader('one');
      answersLate(4000);
      await runtime.advance(6000);
      server.fault = () => 'hang';
      await runtime.advance(5999);
      expect(election.isHeld()).toBe(true);
      await runtime.advance(1);
      expect(election.isHeld()).toBe(false);
      expect(log.at(-1)).toBe('one lost: it was not renewed within 10 s');
    });

    it('is shut by the clock alone when the process stood still past its deadline [B40]', async () => {
      const election = await leader('one');
      runtime.freeze(10_000);
      expect(election.isHeld()).toBe(false);
      expect(election.fence()).toEqual({
        open: false,
        why: 'the lease system/lock was not renewed in time by this process',
      });
    });

    it('is shut by the clock alone from when the last renewal was sent [B40]', async () => {
      const election = await leader('one');
      answersLate(4000);
      await runtime.advance(6000);
      expect(election.isHeld()).toBe(true);
      runtime.freeze(6000);
      expect(election.isHeld()).toBe(false);
    });

    it('is not fooled by a wall clock that steps back [B40]', async () => {
      const election = await leader('one');
      server.fault = () => failure(500, 'InternalError', 'down');
      runtime.stepWallClock(-86_400_000);
      await runtime.advance(10_000);
      expect(election.isHeld()).toBe(false);
    });

    it('is over before the next copy may begin [B40]', async () => {
      const first = await leader('one');
      const second = candidate('two');
      second.start();
      await runtime.advance(3000);
      // The first is cut off: its own requests fail, those of the second pass.
      server.fault = (request) =>
        (request.body as Lease | undefined)?.spec?.holderIdentity === 'one' ? noAnswer('cut off') : undefined;
      for (let i = 0; i < 300; i++) {
        await runtime.advance(100);
        expect(first.isHeld() && second.isHeld()).toBe(false);
      }
      expect([first.isHeld(), second.isHeld()]).toEqual([false, true]);
    });

    it('asks one request for one try, so that no repetition outlasts the deadline', async () => {
      await leader('one');
      const before = transport.requests.length;
      server.fault = () => noAnswer();
      await runtime.advance(4000);
      expect(transport.requests.slice(before).map(({ method, deadlineMs }) => [method, deadlineMs])).toEqual([
        ['PUT', 5000],
        ['GET', 5000],
      ]);
    });

    it('recovers from answers that were lost', async () => {
      const election = await leader('one');
      server.losesAnswers = true;
      await runtime.advance(4000);
      server.losesAnswers = false;
      await runtime.advance(60_000);
      expect(election.isHeld()).toBe(true);
      expect(log).toEqual([
        'one: the lease was not renewed: the answer was lost',
        'one: the lease was not renewed: the answer was lost',
      ]);
    });
  });

  it('gives up at once when somebody else has the lease [B40]', async () => {
    const election = await leader('one');
    server.edit({ holderIdentity: 'usurper' });
    await runtime.advance(2000);
    expect(election.isHeld()).toBe(true);
    await runtime.advance(2000);
    expect(election.isHeld()).toBe(false);
    expect(log).toEqual(['one lost: it is held by usurper now']);
  });

  describe('release', () => {
    it('leaves the lease to the next one at once, and keeps the count', async () => {
      const first = await leader('one');
      const second = candidate('two');
      second.start();
      await runtime.advance(5000);
      const released = first.release();
      expect(first.isHeld()).toBe(false);
      await runtime.advance(0);
      await released;
      expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
      await runtime.advance(2400);
      expect(second.isHeld()).toBe(true);
      expect(server.lease?.spec?.leaseTransitions).toBe(1);
      await runtime.advance(60_000);
      expect(log).toEqual(['two acquired']);
    });

    it('waits for a renewal that is under way, and gives up what that has won', async () => {
      const election = await leader('one');
      answersLate(4000);
      await runtime.advance(2000);
      const released = election.release();
      await runtime.advance(3999);
      expect(server.lease?.spec?.holderIdentity).toBe('one');
      await runtime.advance(1);
      await released;
      expect(server.lease?.spec?.holderIdentity).toBe('');
    });

    it('touches nothing that is not ours', async () => {
      await leader('one');
      const second = candidate('two');
      second.start();
      await runtime.advance(3000);
      const before = writes();
      await second.release();
      expect(writes()).toBe(before);
      expect(server.lease?.spec?.holderIdentity).toBe('one');
    });

    it('says so when it fails, and lets the lease run out', async () => {
      const election = await leader('one');
      server.fault = () => noAnswer();
      await election.release();
      expect(log).toEqual(['one: the lease could not be released and runs out by itself: the answer was lost']);
      await runtime.advance(60_000);
      expect(runtime.pendingTimers).toBe(0);
    });
  });
});

describe('checkTiming', () => {
  it.each([
    [15_000, 10_000, 2000, true],
    [60_000, 40_000, 8000, true],
    [10_000, 10_000, 2000, false],
    [15_000, 2400, 2000, false],
    [15_000, 10_000, 0, false],
  ])('of %d, %d and %d ms is %s', (leaseDurationMs, renewDeadlineMs, retryPeriodMs, isFit) => {
    const check = (): void => checkTiming({ leaseDurationMs, renewDeadlineMs, retryPeriodMs });
    if (isFit) expect(check).not.toThrow();
    else expect(check).toThrow(/leader election: lease duration/);
  });
});
