import { describe, expect, it } from '@jest/globals';
import { FlagError, type Flags, parseFlags } from './flags.js';

function parse(...args: readonly string[]): Flags {
  return parseFlags(args, '1.2.3');
}

function refusal(...args: readonly string[]): FlagError {
  try {
    parse(...args);
  } catch (error) {
    if (error instanceof FlagError) return error;
    throw error;
  }
  throw new Error('the command line was accepted');
}

describe('the command line', () => {
  it('has the defaults of OME', () => {
    expect(parse()).toEqual({
      options: {
        namespace: 'ome',
        leaderElection: 'off',
        inferenceReplicaController: 'enabled',
        concurrency: { inferenceServices: 1, inferenceReplicas: 1 },
        installation: 'leave',
        safetyPollMs: 600_000,
        stopGraceMs: 8000,
      },
      metricsAddress: ':8080',
      healthAddress: ':8081',
      logLevel: 'info',
      ignored: [],
    });
  });

  it('takes what the chart passes, and says which of it does nothing', () => {
    const flags = parse(
      '--metrics-bind-address=:8080',
      '--leader-elect',
      '--webhook',
      '--zap-encoder=console',
      '--inferenceservice-max-concurrent-reconciles=4',
      '--inferencereplica-max-concurrent-reconciles=8',
      '--config-cache-ttl=30s',
      '--accelerator-resources=nvidia.com/gpu,google.com/tpu',
      '--kube-api-qps=100',
      '--kube-api-burst=200',
      '--leader-elect-lease-duration=60s',
      '--leader-elect-renew-deadline=40s',
      '--leader-elect-retry-period=8s',
    );
    expect(flags.options).toMatchObject({
      leaderElection: { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 8000 },
      concurrency: { inferenceServices: 4, inferenceReplicas: 8 },
      quotaResources: ['nvidia.com/gpu', 'google.com/tpu'],
    });
    expect(flags.rate).toEqual({ qps: 100, burst: 200 });
    expect(flags.ignored.map((line) => line.split(':')[0])).toEqual([
      '--webhook',
      '--config-cache-ttl',
      '--zap-encoder',
    ]);
  });

  it.each([
    [['--leader-elect'], 'on'],
    [['--leader-elect=true'], 'on'],
    [['--leader-elect=T'], 'on'],
    [['--leader-elect=1'], 'on'],
    [['--leader-elect=false'], 'off'],
    [['--leader-elect', '--leader-elect=0'], 'off'],
  ])('reads the switch %j as %s, the last word counting', (args, wanted) => {
    expect(parse(...args).options.leaderElection === 'off' ? 'off' : 'on').toBe(wanted);
  });

  it('turns the InferenceReplica controller off, and the installation on', () => {
    const { options } = parse(
      '--enable-inferencereplica-controller=false',
      '--apply-crds',
      '--leader-election-namespace=sys',
    );
    expect(options).toMatchObject({ inferenceReplicaController: 'disabled', installation: 'apply', namespace: 'sys' });
  });

  it.each([
    ['info', 'info'],
    ['error', 'error'],
    ['2', 'debug'],
  ])('reads the log level %s as %s', (word, wanted) => {
    expect(parse(`--zap-log-level=${word}`).logLevel).toBe(wanted);
  });

  it.each([
    [['--leader-elect-lease-duration=15'], 'write a duration with a unit, such as 15s'],
    [['--leader-elect=maybe'], 'write true or false'],
    [['--inferenceservice-max-concurrent-reconciles=0'], 'write a whole number above 0'],
    [['--kube-api-qps=fast'], 'write a number'],
    [['--kube-api-qps=100'], 'burst is required to be greater than 0: set --kube-api-burst'],
    [['--zap-log-level=loud'], 'write debug, info, warn or error'],
    [['--no-such-flag'], 'unknown option'],
    [['serve'], 'too many arguments'],
  ])('refuses %j', (args, complaint) => {
    const error = refusal(...args);
    expect(error.message).toContain(complaint);
    expect(error.exitCode).toBe(1);
  });

  it.each([
    ['--version', '1.2.3'],
    ['--help', '--health-probe-addr'],
  ])('answers %s and ends well', (flag, text) => {
    const answer = refusal(flag);
    expect(answer.message).toContain(text);
    expect(answer.exitCode).toBe(0);
  });
});
