import { describe, expect, it } from '@jest/globals';
import { causeOf, stuckContainers, terminationOfDeadline, terminationOfPod, terminationOfStuck } from './failure.js';
import type { ContainerView, PodView } from './snapshot.js';
import { noon, pod } from './testing/world.js';

const waiting = (reason: string, over: Partial<ContainerView> = {}, name = 'ome-container'): ContainerView => ({
  name,
  kind: 'regular',
  ready: false,
  restartCount: 0,
  image: 'v1',
  imageID: '',
  runningImage: '',
  waiting: { reason, message: `because of ${reason}` },
  ...over,
});
const podWith = (containers: readonly ContainerView[], over: Partial<PodView> = {}): PodView =>
  pod({ health: 'starting', over: { containers, createdAt: noon - 100, ...over } });

describe('the cause of a failure', () => {
  it.each(['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'CreateContainerConfigError', 'InvalidPodSpec'])(
    'is the workload for %s',
    (reason) => expect(causeOf(reason)).toBe('workload'),
  );

  it.each(['Unschedulable', 'NamespaceTerminating'])('is the environment for %s', (reason) => {
    expect(causeOf(reason)).toBe('environment');
  });

  it.each(['CrashLoopBackOff', 'RunContainerError', 'CreateContainerError', 'DeadlineExceeded', 'ContainersNotReady'])(
    'is nobody in particular for %s: a broken node looks the same [B55]',
    (reason) => expect(causeOf(reason)).toBe('unattributed'),
  );
});

describe('a stuck container', () => {
  it.each([
    'CrashLoopBackOff',
    'ImagePullBackOff',
    'ErrImagePull',
    'InvalidImageName',
    'CreateContainerError',
    'CreateContainerConfigError',
    'RunContainerError',
  ])('waits for %s', (reason) => {
    expect(stuckContainers([podWith([waiting(reason)])], 0)).toHaveLength(1);
  });

  it.each(['ContainerCreating', 'PodInitializing'])('does not wait for %s', (reason) => {
    expect(stuckContainers([podWith([waiting(reason)])], 0)).toEqual([]);
  });

  it('may be an init container', () => {
    expect(stuckContainers([podWith([waiting('ImagePullBackOff', { kind: 'init' }, 'fetch')])], 0)).toHaveLength(1);
  });

  it('is stuck since its last end, so that one crash after a good hour is not an hour of being stuck', () => {
    const crashed = waiting('CrashLoopBackOff', {
      lastTerminated: { reason: 'Error', exitCode: 1, message: '', finishedAt: noon - 5 },
    });
    expect(stuckContainers([podWith([crashed], { createdAt: noon - 3600 })], noon - 3600)[0]?.since).toBe(noon - 5);
  });

  it('that never ran is stuck since its pod or the attempt began, whichever is later', () => {
    const pods = [podWith([waiting('ErrImagePull')], { createdAt: noon - 100 })];
    expect(stuckContainers(pods, noon - 500)[0]?.since).toBe(noon - 100);
    expect(stuckContainers(pods, noon - 20)[0]?.since).toBe(noon - 20);
  });

  it('does not count in a pod that is going or has ended', () => {
    expect(stuckContainers([podWith([waiting('ErrImagePull')], { deletionAt: noon })], 0)).toEqual([]);
    expect(stuckContainers([podWith([waiting('ErrImagePull')], { phase: 'Failed' })], 0)).toEqual([]);
  });

  it('is recorded with what the kubelet says and the last exit code', () => {
    const crashed = waiting('CrashLoopBackOff', {
      lastTerminated: { reason: 'OOMKilled', exitCode: 137, message: '' },
    });
    const [stuck] = stuckContainers([podWith([crashed])], 0);
    expect(stuck && terminationOfStuck(stuck, noon)).toEqual({
      podName: 'chat-engine-0-default-0',
      containerName: 'ome-container',
      reason: 'CrashLoopBackOff',
      exitCode: 137,
      message: 'because of CrashLoopBackOff',
      time: noon,
    });
  });

  it('is recorded without an exit code when no process ran', () => {
    const [stuck] = stuckContainers([podWith([waiting('ErrImagePull')])], 0);
    expect(stuck && terminationOfStuck(stuck, noon)).not.toHaveProperty('exitCode');
  });

  it('is recorded with a message of at most 256 characters [B103]', () => {
    const long = waiting('ErrImagePull', { waiting: { reason: 'ErrImagePull', message: 'x'.repeat(5000) } });
    const [stuck] = stuckContainers([podWith([long])], 0);
    expect(stuck && terminationOfStuck(stuck, noon).message).toHaveLength(256);
  });
});

const ended = (name: string, exitCode: number): ContainerView => ({
  ...waiting('', {}, name),
  terminated: { reason: exitCode === 0 ? 'Completed' : 'Error', exitCode, message: '' },
});

describe('the record of a pod that has ended', () => {
  it('is that of the pod when no container started, as when a kubelet refuses it [E55]', () => {
    const refused = pod({
      health: 'failed',
      over: { statusReason: 'OutOfcpu', statusMessage: 'no cpu', containers: [] },
    });
    expect(terminationOfPod(refused, noon)).toMatchObject({ containerName: '', reason: 'OutOfcpu', message: 'no cpu' });
  });

  it('is that of the container that failed, before one that ended well', () => {
    const failed = pod({ health: 'failed', over: { containers: [ended('sidecar', 0), ended('ome-container', 3)] } });
    expect(terminationOfPod(failed, noon)).toMatchObject({
      containerName: 'ome-container',
      reason: 'Error',
      exitCode: 3,
    });
  });

  it('says PodFailed when nobody says more', () => {
    const bare = pod({ health: 'failed', over: { statusReason: '', containers: [] } });
    expect(terminationOfPod(bare, noon).reason).toBe('PodFailed');
  });
});

const reasonOf = (...pods: readonly PodView[]): string =>
  terminationOfDeadline(pods, 'Create/CreatePods', noon - 1800, noon).reason;

describe('the record of a deadline', () => {
  const broken = podWith([waiting('ErrImagePull')]);
  const crashing = podWith([waiting('CrashLoopBackOff')]);
  const unready = podWith([{ ...waiting(''), ready: false }], { phase: 'Running' });
  const gated = pod({ health: 'containersReady', gate: { state: 'true' } });
  const homeless = podWith([], { phase: 'Pending', node: '', unschedulable: { message: '0/3 nodes' } });

  it.each<[string, readonly PodView[], string]>([
    ['what the workload does wrong', [homeless, gated, unready, crashing, broken], 'ErrImagePull'],
    ['a crash loop', [homeless, gated, unready, crashing], 'CrashLoopBackOff'],
    ['a container that runs and is not ready', [homeless, gated, unready], 'ContainersNotReady'],
    ['a readiness gate that stays closed', [homeless, gated], 'ReadinessGateNotSatisfied'],
    ['a pod without a node', [homeless], 'Unschedulable'],
    ['nothing better than the deadline', [podWith([])], 'DeadlineExceeded'],
    ['nothing better than the deadline, without any pod', [], 'DeadlineExceeded'],
  ])('names %s first', (_, pods, reason) => {
    expect(reasonOf(...pods)).toBe(reason);
  });

  it('names the container that never passed its readiness check [A14]', () => {
    expect(terminationOfDeadline([unready], 'Create/CreatePods', 0, noon)).toMatchObject({
      containerName: 'ome-container',
      reason: 'ContainersNotReady',
      message: 'container ome-container runs but never passed its readiness check',
    });
  });

  it('names the attempt when it names the deadline', () => {
    expect(terminationOfDeadline([], 'Update/Surge', 0, noon).message).toBe(
      'Update/Surge exceeded its instanceReadyTimeout',
    );
  });
});
