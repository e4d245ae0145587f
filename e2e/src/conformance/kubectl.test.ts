/** A real kubectl against the simulated cluster over HTTP: what people type works. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { systemRuntime } from '@omenative/kube';
import { Cluster, SimServer } from '@omenative/sim';
import { stringify } from 'yaml';
import { definitions, widget } from './testing/definitions.js';

const binary = process.env['OME_KUBECTL'] ?? join(homedir(), '.cache/ome-cluster/v1.34.4/bin/kubectl');

/** The stdout of a command, or what it said when it failed. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(binary, args, { env, timeout: 30_000 });
    return stdout;
  } catch (error) {
    return String((error as { stderr?: string }).stderr ?? error);
  }
}

function suite(): void {
  const home = mkdtempSync(join(tmpdir(), 'ome-kubectl-'));
  const env = { ...process.env, KUBECONFIG: join(home, 'config'), HOME: home };
  const server = new SimServer({
    cluster: new Cluster({ seed: 1, startMs: Date.now(), crds: definitions, options: { partEvents: 'recorded' } }),
    runtime: systemRuntime(),
    speed: 10,
  });
  const kubectl = (...args: string[]): Promise<string> => run(args, env);

  beforeAll(async () => {
    const url = await server.start();
    writeFileSync(
      env.KUBECONFIG,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'sim', cluster: { server: url } }],
        contexts: [{ name: 'sim', context: { cluster: 'sim' } }],
        'current-context': 'sim',
      }),
    );
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels: { app: 'x' } },
      spec: { containers: [{ name: 'main', image: 'image:v1' }] },
    };
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1' },
      status: { allocatable: { cpu: '8', pods: '9' } },
    };
    writeFileSync(join(home, 'all.yaml'), [node, pod, widget('w')].map((one) => stringify(one)).join('---\n'));
  });

  afterAll(async () => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it('applies, and applies again without a change', async () => {
    const file = join(home, 'all.yaml');
    expect(await kubectl('apply', '-f', file)).toBe(
      'node/node-1 created\npod/p created\nwidget.conformance.ome.test/w created\n',
    );
    expect(await kubectl('apply', '-f', file)).toContain('widget.conformance.ome.test/w unchanged');
    expect(await kubectl('apply', '--server-side', '-f', file)).toContain('pod/p serverside-applied');
  });

  it('applies a list', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [widget('x'), widget('y')] };
    writeFileSync(join(home, 'list.json'), JSON.stringify(list));
    expect(await kubectl('apply', '-f', join(home, 'list.json'))).toBe(
      'widget.conformance.ome.test/x created\nwidget.conformance.ome.test/y created\n',
    );
    expect(await kubectl('delete', '-f', join(home, 'list.json'))).toContain('deleted');
  });

  it('waits for a pod, and shows it with its events', async () => {
    expect(await kubectl('wait', 'pod/p', '--for=condition=Ready', '--timeout=20s')).toBe('pod/p condition met\n');
    expect(await kubectl('get', 'pods', '--no-headers')).toMatch(/^p +1\/1 +Running +0 +/);
    expect(await kubectl('describe', 'pod', 'p')).toMatch(/Scheduled[\s\S]*Started/);
    expect(await kubectl('get', 'nodes', '--no-headers')).toMatch(/^node-1 +Ready/);
  });

  it('sorts what the table shows by a field of the objects', async () => {
    const names = ['sorted-b', 'sorted-a', 'sorted-c'];
    for (const name of names) await kubectl('create', 'configmap', name, `--from-literal=key=${name}`);
    const sorted = await kubectl('get', 'configmaps', '--sort-by=.data.key', '--no-headers');
    expect(sorted.match(/^sorted-./gm)).toEqual(names.toSorted());
    await kubectl('delete', 'configmap', ...names);
    const events = await kubectl('get', 'events', '--sort-by=.lastTimestamp');
    expect(events).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n.*Scheduled[\s\S]*Started/);
  });

  it('follows a pod to its end', async () => {
    const watch = spawn(binary, ['get', 'pods', '-w', '--no-headers'], { env });
    const lines: string[] = [];
    watch.stdout.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    await new Promise((resolve) => {
      watch.stdout.once('data', resolve);
    });
    expect(await kubectl('delete', 'pod', 'p')).toContain('pod "p" deleted');
    watch.kill();
    expect(lines.join('')).toMatch(/Running[\s\S]*Terminating[\s\S]*Completed/);
  });

  it('changes a custom object in every way, and explains it', async () => {
    const name = 'widget.conformance.ome.test/w';
    expect(await kubectl('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"size":3}}')).toBe(
      `${name} patched\n`,
    );
    expect(await kubectl('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"size":30}}')).toContain(
      'should be less than or equal to 10',
    );
    await kubectl('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"replicas":1}}');
    expect(await kubectl('scale', 'widget', 'w', '--replicas=4')).toContain('widget.conformance.ome.test/w scaled');
    expect(await kubectl('annotate', 'wdg', 'w', 'a=b')).toBe(`${name} annotated\n`);
    expect(await kubectl('label', 'wdg', 'w', 'c=d')).toBe(`${name} labeled\n`);
    expect(await kubectl('get', 'wdg', '--no-headers')).toMatch(/^w +3 /);
    expect(await kubectl('explain', 'widget.spec.parts')).toContain('weight');
    expect(await kubectl('delete', 'wdg', 'w')).toContain('deleted');
  });

  it('makes and ends namespaces', async () => {
    expect(await kubectl('create', 'namespace', 'one')).toBe('namespace/one created\n');
    expect(await kubectl('create', 'secret', 'generic', 's', '--from-literal=a=b', '-n', 'one')).toBe(
      'secret/s created\n',
    );
    expect(await kubectl('delete', 'namespace', 'one')).toContain('deleted');
  });

  it('is told what is only simulated', async () => {
    await kubectl('apply', '-f', join(home, 'all.yaml'));
    expect(await kubectl('logs', 'p')).toContain('simulated');
    expect(await kubectl('exec', 'p', '--', 'ls')).toContain('simulated');
  });
}

describe('kubectl on the simulated cluster', () => {
  jest.setTimeout(60_000);
  if (existsSync(binary)) suite();
  else if (process.env['CI'] === 'true') {
    it('is there to be run', () => {
      throw new Error(`there is no kubectl at ${binary}; set OME_KUBECTL`);
    });
  } else {
    it.skip(`needs kubectl at ${binary}, or OME_KUBECTL`, () => {});
  }
});
