import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { systemRuntime } from '@omenative/kube';
import { stringify } from 'yaml';
import { EmbeddedCluster } from './embedded-cluster.js';
import { chat, demoNamespace, llama } from './manifests.js';
import { findKubectl, Kubectl } from './testing/kubectl.js';

/** Each test runs programs, on a machine that may be busy. */
jest.setTimeout(120_000);

const program = findKubectl();
if (program === undefined)
  console.warn('No kubectl is around, so that its suite against the embedded cluster is skipped.');
const suite = program === undefined ? describe.skip : describe;

/** Rows of a table as kubectl prints it, by the first column, cells by the column's name. */
function table(text: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const [header = '', ...rows] = text.trimEnd().split('\n');
  const names = header.split(/ {2,}/).map((name) => name.trim());
  const starts = names.map((name) => header.indexOf(name));
  const cells = (row: string): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map((name, i) => [name, row.slice(starts[i], starts[i + 1]).trim()]));
  return new Map(rows.map((row) => [cells(row)[names[0] ?? ''] ?? '', cells(row)]));
}

const yaml = (objects: readonly object[]): string => objects.map((object) => stringify(object)).join('---\n');

suite('a stock kubectl against the embedded cluster', () => {
  let folder: string;
  let cluster: EmbeddedCluster;
  let kubectl: Kubectl;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'kubectl-test-'));
    cluster = new EmbeddedCluster({ runtime: systemRuntime(), folder, log: () => {} });
    await cluster.start();
    kubectl = new Kubectl(program ?? '', cluster.kubeconfig, folder);
    await kubectl.ok('apply -f -', yaml([demoNamespace, ...chat]));
    await kubectl.ok('apply --server-side -f -', yaml(llama));
    await kubectl.ok('wait isvc/chat isvc/llama --for=condition=Ready --timeout=30s');
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  it('get prints the columns of the definitions and of the built-in kinds', async () => {
    expect(table(await kubectl.ok('get irep')).get('chat-engine')).toMatchObject({
      COMPONENT: 'engine',
      DESIRED: '2',
      CURRENT: '2',
      READY: '2',
      AVAILABLE: '2',
    });
    expect(table(await kubectl.ok('get isvc')).get('llama')).toMatchObject({ READY: 'True', RUNTIME: 'echo-gang' });
    const pods = table(await kubectl.ok('get pods -o wide'));
    expect(pods.get('llama-engine-1-worker-1')).toMatchObject({ READY: '1/1', STATUS: 'Running' });
    expect(pods.get('llama-engine-1-worker-1')?.['NODE']).toMatch(/^node-\d$/);
  });

  it('get selects by label and prints one field', async () => {
    const leaders = await kubectl.ok('get pods -l ome.io/runner=leader -o name');
    expect(leaders.trim().split('\n')).toEqual(['pod/llama-engine-0-leader-0', 'pod/llama-engine-1-leader-0']);
    expect(await kubectl.ok('get irep chat-engine -o jsonpath={.status.readyReplicas}')).toBe('2');
  });

  it('get -w goes on to print what changes', async () => {
    const watch = kubectl.start('get irep chat-engine -w --output-watch-events');
    let text = '';
    // kubectl writes a row cell by cell: it is one only when its line has ended.
    const rowOf = (event: string): string | undefined => new RegExp(`^${event} .*(?=\\n)`, 'm').exec(text)?.[0];
    const when = (event: string): Promise<void> =>
      new Promise((resolve) => {
        watch.stdout?.on('data', () => {
          if (rowOf(event) !== undefined) resolve();
        });
      });
    watch.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const [added, modified] = [when('ADDED'), when('MODIFIED')];
    await added;
    await kubectl.ok('label irep chat-engine seen=yes');
    await modified;
    watch.kill();
    expect(rowOf('MODIFIED')).toMatch(/^MODIFIED +chat-engine +engine +2 +2 +2 +2/);
  });

  it('describe shows the status and the Events', async () => {
    const text = await kubectl.ok('describe isvc chat');
    expect(text).toMatch(/Type: +Ready/);
    expect(text).toMatch(/Normal +InstanceReady .* ome-controller-manager +.*instance=1: ready at revision/);
    expect(await kubectl.ok('describe irep llama-engine')).toMatch(/Phase: +Ready/);
    expect(await kubectl.ok('describe pod llama-engine-0-leader-0')).toMatch(/ome.io\/serving +True/);
  });

  it('apply says what it did, and nothing is done for what is so already', async () => {
    expect(await kubectl.ok('apply -f -', yaml(chat))).toMatch(/inferenceservice\S*\/chat unchanged/);
    expect(await kubectl.ok('apply --server-side -f -', yaml(llama))).toMatch(/llama serverside-applied/);
    const again = yaml(chat).replace('instanceReadyTimeout: 1m', 'instanceReadyTimeout: 2m');
    expect(await kubectl.ok('apply -f -', again)).toMatch(/inferenceservice\S*\/chat configured/);
    expect(await kubectl.ok('get isvc chat -o jsonpath={.spec.engine.lifecycle.instanceReadyTimeout}')).toBe('2m');
  });

  it('apply is refused for a field that another manager owns, and for an object that is not valid', async () => {
    const other = yaml(llama).replaceAll('minReplicas: 2', 'minReplicas: 3');
    const conflict = await kubectl.run(['apply', '--server-side', '--field-manager=other', '-f', '-'], other);
    expect(conflict.exitCode).toBe(1);
    expect(conflict.stderr).toMatch(/conflict with "kubectl".*\.spec\.engine\.minReplicas/s);
    const wrong = yaml(chat).replace('deploymentMode: OMENative', 'deploymentMode: Sometimes');
    expect((await kubectl.run(['apply', '-f', '-'], wrong)).stderr).toContain('deploymentMode');
  });

  it('label and annotate change the metadata', async () => {
    await kubectl.ok('label isvc chat tier=gold');
    await kubectl.ok('annotate isvc chat example.com/note=hello');
    expect(await kubectl.ok('get isvc -l tier=gold -o name')).toMatch(/\/chat$/m);
    await kubectl.ok('label isvc chat tier-');
    expect(await kubectl.ok('get isvc -l tier=gold -o name')).toBe('');
  });

  it('patch rolls the image out, and wait tells when every pod runs it', async () => {
    const patch = JSON.stringify({ spec: { engine: { runner: { image: 'simulated/echo:v2' } } } });
    await kubectl.ok(`patch isvc chat --type=merge -p ${patch}`);
    // Until the status is of the new generation, its counts are of the old revision.
    const image = '{.spec.runners[*].template.spec.containers[*].image}';
    await kubectl.ok(`wait irep/chat-engine --for=jsonpath=${image}=simulated/echo:v2 --timeout=40s`);
    const generation = await kubectl.ok('get irep chat-engine -o jsonpath={.metadata.generation}');
    await kubectl.ok(`wait irep/chat-engine --for=jsonpath={.status.observedGeneration}=${generation} --timeout=40s`);
    await kubectl.ok('wait irep/chat-engine --for=jsonpath={.status.updatedReadyReplicas}=2 --timeout=40s');
    const images = await kubectl.ok('get pods -l ome.io/inferenceservice=chat -o jsonpath={..image}');
    expect(images).toContain('simulated/echo:v2');
  });

  it('scale adds a gang', async () => {
    await kubectl.ok('scale irep llama-engine --replicas=3');
    await kubectl.ok('wait irep/llama-engine --for=jsonpath={.status.readyReplicas}=3 --timeout=30s');
    const gang = await kubectl.ok('get pods -l ome.io/inferenceservice=llama,ome.io/instance-index=2 -o name');
    expect(gang.trim().split('\n')).toHaveLength(3);
  });

  it('logs, exec and port-forward say that there is nothing behind a simulated container', async () => {
    for (const command of ['logs', 'exec -- ls', 'port-forward 8080']) {
      const [verb = '', ...rest] = command.split(' ');
      const { exitCode, stderr } = await kubectl.run([verb, 'llama-engine-0-leader-0', ...rest]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain('simulated');
    }
  });

  it('delete waits until the object is gone, and everything of it goes', async () => {
    expect(await kubectl.ok('delete isvc chat llama --timeout=30s')).toMatch(/"llama" deleted/);
    await kubectl.ok('wait irep/chat-engine irep/llama-engine --for=delete --timeout=30s');
    await kubectl.ok('wait pods --all --for=delete --timeout=30s');
  });
});
