import { describe, expect, it } from '@jest/globals';
import { defaultMaxDecodedInstances } from '@omenative/api';
import { defaultConfigMap } from './default-config-map.js';
import { ConfigError, OperatorConfig } from './operator-config.js';

const status = { omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}' };

function config(documents: Readonly<Record<string, unknown>>): OperatorConfig {
  return new OperatorConfig(data(documents));
}

function data(documents: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts: Record<string, string> = { ...status };
  for (const [key, document] of Object.entries(documents)) {
    texts[key] = typeof document === 'string' ? document : JSON.stringify(document);
  }
  return texts;
}

function startError(documents: Readonly<Record<string, unknown>>): ConfigError {
  try {
    config(documents);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('settings', () => {
  it('turns off whatever is not set: there is no number that nobody wrote', () => {
    const settings = config({}).current();
    expect(settings.lifecycle).toEqual({});
    expect(settings.deploy).toEqual({ updateStrategy: {} });
    expect(settings.ingress).toEqual({ creation: 'disabled' });
    expect(settings.eventRecorder).toBeUndefined();
    expect(settings.disruptionBudget).toBeUndefined();
  });

  it('reads the default document without a complaint, every key of it', () => {
    const settings = new OperatorConfig(defaultConfigMap('ome').data).current();
    expect(settings).toEqual({
      lifecycle: {
        instanceReadyTimeoutSec: 1800,
        stuckPodGraceSec: 60,
        unschedulableGraceSec: 900,
        abandonedReplacementGraceSec: 30,
        scaleUpPodBatch: 100,
        scaleDownPodBatch: 100,
        scaleDownRequeueSec: 5,
        repairBatch: 10,
        revisionHistoryLimit: 10,
        retryBlockHistoryLimit: 3,
        updateRetry: { maxAttempts: 3, initialDelaySec: 60, maxDelaySec: 1800, multiplier: 2 },
        gangScheduleTimeout: { minSec: 60, maxSec: 600 },
        migrationCaps: { maxInFlight: 3, maxPerWindow: 10, windowSec: 3600 },
        requeue: { operationSec: 5, gateSec: 3 },
        autoMigrateMaxAttempts: 3,
        teardownDeadlineSec: 1800,
      },
      deploy: {
        defaultMinReplicas: 1,
        terminationGracePeriodSeconds: 600,
        updateStrategy: {
          engine: { type: 'SurgeThenDrain', maxSurge: '25%', maxUnavailable: '25%' },
          decoder: { type: 'SurgeThenDrain', maxSurge: '25%', maxUnavailable: '25%' },
          router: { type: 'SurgeThenDrain', maxSurge: '25%', maxUnavailable: '25%' },
        },
      },
      ingress: { creation: 'disabled' },
      omenativeStatus: { encoding: 'ColumnarV2', maxDecodedInstances: 20_000 },
      eventRecorder: { burst: 400, refillIntervalMs: 5000 },
      disruptionBudget: { maxUnavailable: 1 },
      controllerIdentity: { usernames: [], groups: [] },
      acceleratorResources: ['nvidia.com/gpu'],
    });
  });

  it.each(['', '0s', null, '0'])('counts a duration of %j as not set [E166]', (value) => {
    expect(config({ lifecycle: { instanceReadyTimeout: value } }).current().lifecycle).toEqual({});
  });

  it('reads columns that are there, though new ones are not wanted and no bound is set [E182]', () => {
    const { omenativeStatus } = config({ omenativeStatus: { instanceStatusEncoding: 'DenseV1' } }).current();
    expect(omenativeStatus).toEqual({ encoding: 'DenseV1', maxDecodedInstances: defaultMaxDecodedInstances });
  });

  it('rounds durations up to the whole seconds of a status', () => {
    const { lifecycle } = config({ lifecycle: { stuckPodGracePeriod: '1500ms' } }).current();
    expect(lifecycle.stuckPodGraceSec).toBe(2);
  });

  it('takes a batch as a share of all pods', () => {
    const { lifecycle } = config({ lifecycle: { scaleDownPodBatchSize: '10%' } }).current();
    expect(lifecycle.scaleDownPodBatch).toBe('10%');
  });
});

describe('at start, when there is no last good value', () => {
  it.each([
    [
      { lifecycle: { stuckPodGracePeriod: 60 } },
      'lifecycle.stuckPodGracePeriod = 60: 60 has no unit: write it as text, such as "60s"',
    ],
    [
      { lifecycle: { instanceReadyTimeout: '30' } },
      'lifecycle.instanceReadyTimeout = "30": "30" has no unit: write "30s"',
    ],
    [{ lifecycle: { teardown: { deadline: '-30m' } } }, 'lifecycle.teardown.deadline = "-30m": "-30m" is negative'],
    [
      { lifecycle: { forceDelete: { overdueSlack: '2m' } } },
      'lifecycle.forceDelete = {"overdueSlack":"2m"}: needs nodeUnreachableThreshold too',
    ],
    [{ lifecycle: { scaleUpPodBatchSize: 0 } }, 'lifecycle.scaleUpPodBatchSize = 0: must be >= 1, got 0'],
    [
      { lifecycle: { updateRetry: { maxAttempts: 3, initialDelay: '2m', maxDelay: '1m', multiplier: 2 } } },
      'maxDelay must not be shorter than initialDelay',
    ],
    [
      { lifecycle: { updateRetry: { maxAttempts: 3, initialDelay: 2, maxDelay: '1m', multiplier: 2 } } },
      'initialDelay: 2 has no unit',
    ],
    [{ lifecycle: { teardown: '30m' } }, 'lifecycle.teardown = "30m": is not an object'],
    [{ lifecycle: 'no json' }, 'lifecycle = no json: unable to parse lifecycle config json'],
    [{ lifecycle: '[]' }, 'lifecycle = []: is not a JSON object'],
    [{ deploy: { minReadySeconds: -30 } }, 'deploy.minReadySeconds = -30: must be >= 0, got -30'],
    [
      { deploy: { defaultDeploymentMode: 'OMENative' } },
      'deploy.defaultDeploymentMode = "OMENative": must be RawDeployment, got "OMENative"',
    ],
    [
      { deploy: { updateStrategy: { engine: { maxSurge: 0 } } } },
      'deploy.updateStrategy.engine.maxSurge = 0: must be a count above 0',
    ],
    [
      { deploy: { updateStrategy: { router: { type: 'Recreate' } } } },
      'deploy.updateStrategy.router.type = "Recreate": must be SurgeThenDrain or',
    ],
    [
      { podDisruptionBudget: { omeNative: { minAvailable: 1, maxUnavailable: 1 } } },
      'minAvailable and maxUnavailable cannot both be set',
    ],
    [
      { omenativeStatus: { instanceStatusEncoding: 'ColumnarV2' } },
      'omenativeStatus.maxDecodedInstances = not set: is required',
    ],
    [{ omenativeStatus: {} }, 'omenativeStatus.instanceStatusEncoding = not set: must be DenseV1 or ColumnarV2'],
    [
      { omenativeStatus: { instanceStatusEncoding: 'columnar' } },
      'omenativeStatus.instanceStatusEncoding = "columnar": must be',
    ],
    [{ inferenceReplica: { controllerIdentity: { usernames: [' a'] } } }, 'without surrounding whitespace'],
  ])('refuses %j and names key and value [E166]', (documents, complaint) => {
    expect(startError(documents).message).toContain(complaint);
  });

  it('names every bad key, not only the first', () => {
    const error = startError({ lifecycle: { stuckPodGracePeriod: 60, repairBatchSize: 'ten' }, ingress: '{' });
    expect(error.rejections.map((rejection) => rejection.key)).toEqual([
      'lifecycle.stuckPodGracePeriod',
      'lifecycle.repairBatchSize',
      'ingress',
    ]);
  });
});

describe('while running', () => {
  it('keeps the last good value of a bad key, takes the others, and reports the bad one once', () => {
    const live = config({ lifecycle: { stuckPodGracePeriod: '60s', repairBatchSize: 10 } });
    const bad = data({ lifecycle: { stuckPodGracePeriod: 90, repairBatchSize: 20 } });
    expect(live.update(bad).map((rejection) => rejection.key)).toEqual(['lifecycle.stuckPodGracePeriod']);
    expect(live.current().lifecycle).toEqual({ stuckPodGraceSec: 60, repairBatch: 20 });
    expect(live.update(bad)).toEqual([]);
    expect(live.rejections).toHaveLength(1);
    expect(live.update(data({ lifecycle: { stuckPodGracePeriod: '90s' } }))).toEqual([]);
    expect(live.current().lifecycle).toEqual({ stuckPodGraceSec: 90 });
    expect(live.rejections).toEqual([]);
  });

  it('keeps a whole document that is no JSON, and only that one', () => {
    const live = config({ lifecycle: { repairBatchSize: 10 }, deploy: { minReadySeconds: 5 } });
    const rejected = live.update(data({ lifecycle: '{"repairBatchSize": 20', deploy: { minReadySeconds: 6 } }));
    expect(rejected.map((rejection) => rejection.key)).toEqual(['lifecycle']);
    expect(live.current().lifecycle.repairBatch).toBe(10);
    expect(live.current().deploy.minReadySeconds).toBe(6);
  });

  it('turns off what is removed', () => {
    const live = config({ lifecycle: { repairBatchSize: 10 } });
    expect(live.update(data({}))).toEqual([]);
    expect(live.current().lifecycle).toEqual({});
  });

  it('never guesses the encoding of status rows, not even when its key is removed', () => {
    const live = config({ omenativeStatus: { instanceStatusEncoding: 'ColumnarV2', maxDecodedInstances: 7 } });
    const rejected = live.update({});
    expect(rejected.map((rejection) => rejection.key)).toEqual(['omenativeStatus.instanceStatusEncoding']);
    expect(live.current().omenativeStatus).toEqual({ encoding: 'ColumnarV2', maxDecodedInstances: 7 });
  });

  it('tells the teardown message what it could not read, when no deadline is in force', () => {
    const live = config({});
    live.update(data({ lifecycle: { teardown: { deadline: 'soon' } } }));
    expect(live.current().lifecycle).toEqual({ teardownDeadlineInvalid: '"soon"' });
    live.update(data({ lifecycle: { teardown: { deadline: '5m' } } }));
    live.update(data({ lifecycle: { teardown: { deadline: 'later' } } }));
    expect(live.current().lifecycle).toEqual({ teardownDeadlineSec: 300 });
  });

  it('tells its listeners of changes alone', () => {
    const live = config({ lifecycle: { repairBatchSize: 10 } });
    let told = 0;
    const stop = live.subscribe(() => told++);
    live.update(data({ lifecycle: { repairBatchSize: 10 }, metricProviders: {} }));
    expect(told).toBe(0);
    live.update(data({ lifecycle: { repairBatchSize: 11 } }));
    expect(told).toBe(1);
    stop();
    live.update(data({}));
    expect(told).toBe(1);
  });
});
