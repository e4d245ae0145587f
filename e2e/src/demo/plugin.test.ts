import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client, type ResourceType, sleep, systemRuntime } from '@omenative/kube';
import { parse, stringify } from 'yaml';
import { EmbeddedCluster } from './embedded-cluster.js';
import { chat, demoNamespace, namespace } from './manifests.js';
import { findKubectl, Kubectl } from './testing/kubectl.js';
import { Plugin, pluginProgram } from './testing/plugin.js';

/** Each test runs programs, on a machine that may be busy. */
jest.setTimeout(120_000);

const ome = (plural: string, kind: string): ResourceType => {
  return { group: 'ome.io', version: 'v1beta1', plural, kind, namespaced: true };
};
const namespaces: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
const runtimes = ome('servingruntimes', 'ServingRuntime');
const services = ome('inferenceservices', 'InferenceService');

const manifest = (image: string): string => {
  const [, service] = chat;
  const spec = service?.['spec'] as { readonly engine: object };
  return stringify({
    ...service,
    spec: { ...spec, engine: { ...spec.engine, runner: { name: 'ome-container', image } } },
  });
};

describe('kubectl ome against the embedded cluster', () => {
  let folder: string;
  let cluster: EmbeddedCluster;
  let plugin: Plugin;
  let client: Client;

  beforeAll(async () => {
    const runtime = systemRuntime();
    folder = mkdtempSync(path.join(tmpdir(), 'plugin-test-'));
    cluster = new EmbeddedCluster({ runtime, folder, log: () => {} });
    await cluster.start();
    plugin = new Plugin(cluster.kubeconfig, namespace, 'ome');
    client = new Client({ transport: cluster.connect('e2e'), runtime });
    await client.create(namespaces, demoNamespace);
    const [servingRuntime, service] = chat;
    if (servingRuntime === undefined || service === undefined) throw new Error('the demo has no manifests');
    await client.create(runtimes, servingRuntime);
    await client.create(services, service);
    while ((await plugin.explain('isvc/chat')).content.waiting) await sleep(runtime, 500);
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  it('says that nothing is waiting', async () => {
    const text = await plugin.ok(['explain', 'isvc/chat']);
    expect(text).toMatch(/^isvc\/chat: nothing is waiting\n\nirep\/chat-engine: 2 wanted, 2 ready/);
    expect(text).not.toContain('warning');
  });

  it('plans a manifest, and leaves everything as it is', async () => {
    const before = await client.get(services, { namespace, name: 'chat' });
    const text = await plugin.ok(['plan', '-f', '-'], manifest('simulated/echo:v2'));
    expect(text).toMatch(/^1 +0 +Update \(surge\) +\w{8} +\w{8} +1 +0 +2$/m);
    expect(text).toMatch(/^2 +1 +Update \(surge\)/m);
    expect(text).toContain('MinReady');
    const server = await plugin.ok(
      ['plan', '-f', '-', '--server-side', '--force-conflicts', '-o', 'yaml'],
      manifest('v2'),
    );
    expect(parse(server)).toMatchObject({ kind: 'PlanReport', content: { targets: [{ change: 'update' }] } });
    expect((await client.get(services, { namespace, name: 'chat' })).metadata).toEqual(before.metadata);
  });

  it('ends with exit code 1 and the words of the server for what it refuses', async () => {
    const patch = JSON.stringify({ spec: { deploymentMode: 'Sometimes' } });
    const refused = await plugin.run(['plan', 'isvc/chat', '--patch', patch]);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^error: .*spec\.deploymentMode: Unsupported value: "Sometimes"/);
    const strategic = await plugin.run(['plan', 'isvc/chat', '--patch', '{}', '--type', 'strategic']);
    expect(strategic.stderr).toMatch(/415/);
    const missing = await plugin.run(['explain', 'irep/none']);
    expect(missing.stderr).toBe('error: InferenceReplica demo/none does not exist\n');
  });

  it('foretells what a rollout will wait for, and tells it when it does', async () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    const runner = { name: 'ome-container', image: 'simulated/echo:v2' };
    const body = { spec: { engine: { runner, lifecycle: { updateStrategy: { rollingUpdate } } } } };
    const [plan] = (await plugin.plan('isvc/chat', body)).content.targets.flatMap((target) => target.replicas);
    expect(plan).toMatchObject({ waves: [], waits: [{ reason: 'Budget', ends: 'never' }] });
    await client.patch(services, { namespace, name: 'chat' }, { kind: 'merge', body });
    await sleep(systemRuntime(), 1000);
    const [replica] = (await plugin.explain('irep/chat-engine')).content.replicas;
    expect(replica).toMatchObject({
      rolloutHold: { gate: 'Budget', target: plan?.revision?.after },
      holds: [{ reason: 'Budget', text: plan?.waits[0]?.text, since: expect.any(String) }],
    });
  });

  const kubectl = findKubectl();
  const withKubectl = kubectl === undefined ? it.skip : it;

  withKubectl('is run by kubectl under its own name', async () => {
    const link = path.join(folder, 'kubectl-ome');
    writeFileSync(link, `#!/bin/sh\nexec ${process.execPath} ${pluginProgram} "$@"\n`);
    chmodSync(link, 0o755);
    const env = process.env['PATH'];
    process.env['PATH'] = `${folder}${path.delimiter}${env}`;
    const text = await new Kubectl(kubectl ?? '', cluster.kubeconfig, folder).ok('ome version');
    process.env['PATH'] = env;
    expect(text).toMatch(/^Client: \d/);
  });
});
