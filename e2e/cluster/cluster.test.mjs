// What scripts/cluster promises: whatever happens to it, the next command copes, and `down` leaves nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const script = path.resolve(import.meta.dirname, '../../scripts/cluster');
const isRoot = process.getuid?.() === 0;
const shape = isRoot ? ['--nodes', '1'] : ['--fake', '1'];

const { OME_CLUSTER: _ours, ...outside } = process.env;
let dir;
let env;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'ome-cluster-test-'));
  env = { ...outside, OME_CLUSTER_DIR: dir, OME_CLUSTER_PORT: '26443' };
});

afterAll(() => {
  run('down');
  rmSync(dir, { recursive: true, force: true });
});

function run(...args) {
  const { status, stdout, stderr } = spawnSync(script, args, { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Everything of the cluster that this machine shows, found without the script's own eyes. */
function traces() {
  const processes = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && mentionsCluster(`/proc/${pid}/environ`));
  return [
    ...processes.map((pid) => `process ${pid}`),
    ...linesOf('/proc/mounts'),
    ...linesOf('/proc/net/unix'),
    ...readdirSync('/sys/class/net').filter((name) => name === 'ome0'),
    ...(existsSync(dir) ? [dir] : []),
  ];
}

/** Asks the API server of the cluster; returns the object that it answers with. */
async function api(method, where, body) {
  const { clusters, users } = JSON.parse(readFileSync(path.join(dir, 'kubeconfig'), 'utf8'));
  const { server, 'certificate-authority': authority } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}`, 'content-type': 'application/json' };
  const outgoing = request(`${server}${where}`, { method, headers, ca: readFileSync(authority) });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = await once(outgoing, 'response');
  return json(answer);
}

/** Waits until the one container of a pod runs for the `restarts`-th time after its first; returns its id. */
async function runningContainer(pod, restarts) {
  for (;;) {
    const { status } = await api('GET', `/api/v1/namespaces/default/pods/${pod}`);
    const container = status?.containerStatuses?.[0];
    if (container?.state.running !== undefined && container.restartCount === restarts) {
      return container.containerID.replace('containerd://', '');
    }
    await sleep(200);
  }
}

/** The control groups of a container, in every hierarchy. */
function groupsOf(container) {
  const root = '/sys/fs/cgroup';
  const groups = ['.', ...readdirSync(root)].map((hierarchy) => path.join(root, hierarchy, 'k8s.io', container));
  return groups.filter((group) => existsSync(group));
}

function mentionsCluster(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.includes('OME_CLUSTER_MEMBER=') && text.includes(dir);
  } catch {
    return false; // It ended meanwhile.
  }
}

const linesOf = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`${dir}/`));

/** Starts `up` and sends it `signal` some time after it said `sentence`. */
async function interruptUp(signal, sentence, delayMs) {
  const child = spawn(script, ['up', ...shape], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const text of child.stderr) {
    said += text;
    if (said.includes(sentence)) break;
  }
  await sleep(delayMs);
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

describe('scripts/cluster', () => {
  const moments = [
    { sentence: 'Starting the control plane.', delayMs: 0 },
    { sentence: 'Starting the control plane.', delayMs: 1500 },
    ...(isRoot ? [0, 800, 1600].map((delayMs) => ({ sentence: 'Starting the nodes.', delayMs })) : []),
  ];

  it.each(moments)('goes down without a trace when up was killed $delayMs ms after "$sentence"', async (moment) => {
    await interruptUp('SIGKILL', moment.sentence, moment.delayMs);
    expect(run('down')).toMatchObject({ status: 0 });
    expect(traces()).toEqual([]);
  });

  it('leaves no trace when up is asked to end', async () => {
    await interruptUp('SIGTERM', 'Starting the control plane.', 1500);
    expect(traces()).toEqual([]);
  });

  it('comes up over what a killed up left, is reused, and goes down twice', async () => {
    await interruptUp('SIGKILL', 'Starting the control plane.', 1500);
    expect(run('up', ...shape)).toMatchObject({ status: 0, stdout: `export KUBECONFIG=${dir}/kubeconfig\n` });
    expect(run('up', ...shape).stderr).toContain('is up already');
    expect(run('up', '--fake', '7')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("'scripts/cluster down'"),
    });
    expect(run('down')).toMatchObject({ status: 0 });
    expect(traces()).toEqual([]);
    expect(run('down')).toMatchObject({ status: 0, stderr: 'There is no cluster.\n' });
  });

  const itAsRoot = isRoot ? it : it.skip;

  itAsRoot('switches a node off and on, and takes the containers of its pods along', async () => {
    expect(run('up', ...shape)).toMatchObject({ status: 0 });
    const spec = { containers: [{ name: 'web', image: 'busybox:v1' }] };
    await api('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' }, spec });
    const first = await runningContainer('web', 0);
    expect(groupsOf(first)).not.toEqual([]);
    expect(run('crash-node', '1')).toMatchObject({ status: 0 });
    expect(groupsOf(first)).toEqual([]);
    expect(run('start-kubelet', '1')).toMatchObject({ status: 0 });
    const second = await runningContainer('web', 1);
    expect(groupsOf(second)).not.toEqual([]);
    expect(run('down')).toMatchObject({ status: 0 });
    expect(groupsOf(second)).toEqual([]);
    expect(traces()).toEqual([]);
  });

  it('does not touch a folder that is not a cluster', () => {
    const foreign = mkdtempSync(path.join(tmpdir(), 'ome-cluster-test-foreign-'));
    const precious = path.join(foreign, 'precious');
    writeFileSync(precious, 'x');
    for (const args of [['up', ...shape], ['down']]) {
      const { status, stderr } = spawnSync(script, args, {
        env: { ...env, OME_CLUSTER_DIR: foreign },
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('not a test cluster') });
    }
    expect(existsSync(precious)).toBe(true);
    rmSync(foreign, { recursive: true });
  });
});
