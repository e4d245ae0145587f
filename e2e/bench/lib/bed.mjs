// A cluster of twenty fake nodes with a manager on it, for one benchmark, and nothing left of it afterwards.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, classify, connectionFromKubeconfig, HttpTransport, systemRuntime } from '@omenative/kube';
import { allMembers } from '../../cluster/processes.mjs';
import { residentMiB, watchUsage } from './machine.mjs';
import { Manager } from './manager.mjs';
import { PodWatch } from './pods.mjs';
import { gangs, headlessService, replicaType, serviceType, statefulSet, statefulSetType } from './workloads.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = '/tmp/ome-native-bench-cluster';
const env = { ...process.env, OME_CLUSTER: '', OME_CLUSTER_DIR: folder, OME_CLUSTER_PORT: '26643' };
const kubeconfig = path.join(folder, 'kubeconfig');
const fakeNodes = 20;
const systemNamespace = 'ome';
const namespaceType = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const configMapType = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

/** The image of everything that is created, and what an update changes it to. */
export const images = { first: 'busybox:v1', second: 'busybox:v2' };

/**
 * Runs `work` on a bed, and takes it down whatever comes of it, also when it is interrupted.
 *
 * @param {import('./options.mjs').Options & { name: string }} options
 * @param {(bed: Bed) => Promise<void>} work
 */
export async function withBed(options, work) {
  let bed;
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      bed?.manager.kill();
      cluster('down');
      process.exit(1);
    });
  }
  cluster('up', '--fake', String(fakeNodes));
  bed = await Bed.start(options);
  try {
    await work(bed);
  } finally {
    await bed.stop();
    if (!options.keep) cluster('down');
  }
}

function cluster(...args) {
  const { status } = spawnSync(path.join(root, 'scripts/cluster'), args, {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`scripts/cluster ${args.join(' ')} failed`);
}

class Bed {
  #options;
  #transport;
  #runtime = systemRuntime();
  #client;
  #starts = 0;

  static async start(options) {
    const bed = new Bed();
    bed.#options = options;
    const connection = await connectionFromKubeconfig({ runtime: bed.#runtime, path: kubeconfig });
    bed.#transport = new HttpTransport({ connection, runtime: bed.#runtime, userAgent: 'omenative-bench' });
    bed.#client = new Client({ transport: bed.#transport, runtime: bed.#runtime, fieldManager: 'bench' });
    await bed.startManager();
    await bed.#setBatch(options.batch);
    return bed;
  }

  async stop() {
    await this.manager.stop();
    this.#transport.close();
  }

  async startManager() {
    const { name, profile } = this.#options;
    const start = ++this.#starts;
    const common = { kubeconfig, namespace: systemNamespace, profile };
    this.manager = new Manager({ ...common, name: `${name}-${start}`, installs: start === 1 });
    await this.manager.whenReady();
  }

  /** Creates an empty namespace, once that of an earlier run is gone, and a watch of its pods. */
  async namespace(name) {
    while (!(await this.#isCreated(name))) await sleep(500);
    const watch = new PodWatch({ transport: this.#transport, runtime: this.#runtime, namespace: name });
    await watch.whenSynced();
    return watch;
  }

  async createGangs(namespace, count) {
    await this.#client.create(replicaType, gangs(namespace, count, images.first));
  }

  async createPeers(namespace, pods) {
    await this.#client.create(serviceType, headlessService(namespace));
    await this.#client.create(statefulSetType, statefulSet(namespace, pods, images.first));
  }

  /** Changes the image of the gangs. */
  async updateGangs(namespace, image) {
    const body = [0, 1].map((runner) => ({
      op: 'replace',
      path: `/spec/runners/${runner}/template/spec/containers/0/image`,
      value: image,
    }));
    await this.#client.patch(replicaType, { namespace, name: 'gangs' }, { kind: 'json', body });
  }

  /** The resourceVersion of the gangs: it moves when anything of their spec or status does. */
  async gangVersion(namespace) {
    return (await this.#client.get(replicaType, { namespace, name: 'gangs' })).metadata.resourceVersion;
  }

  /** Deletes a workload and waits until all of its pods are gone; resolves with the seconds that took. */
  async remove(type, name, namespace, watch) {
    const fromMs = performance.now();
    try {
      await this.#client.delete(type, { namespace, name }, { propagationPolicy: 'Background' });
    } catch (error) {
      if (classify(error) !== 'notFound') throw error;
    }
    const atMs = await watch.when('all pods are gone', () => watch.pods === 0);
    await this.#client.delete(namespaceType, { name: namespace });
    watch.stop();
    return (atMs - fromMs) / 1000;
  }

  /**
   * Does something, and tells what everybody used meanwhile and what the manager wrote.
   *
   * @template T
   * @param {() => Promise<T>} work
   */
  async measure(work) {
    const pids = {
      'API server': pidOf('kube-apiserver'),
      etcd: pidOf('etcd'),
      manager: this.manager.pid,
      bench: process.pid,
    };
    const before = await this.manager.metrics();
    const usage = watchUsage(pids);
    const result = await work();
    const used = usage();
    const after = await this.manager.metrics();
    const effects = Object.entries(after.effects).map(([name, count]) => [name, count - (before.effects[name] ?? 0)]);
    return {
      result,
      ...used,
      manager: {
        writes: after.writes - before.writes,
        statusWrites: after.statusWrites - before.statusWrites,
        reads: (after.requests['GET'] ?? 0) - (before.requests['GET'] ?? 0),
        events: after.events - before.events,
        passes: after.passes - before.passes,
        effects: Object.fromEntries(effects.filter(([, count]) => count > 0)),
        longestPauseMs: after.longestPauseMs,
        residentMiB: residentMiB(this.manager.pid),
      },
    };
  }

  async #isCreated(name) {
    try {
      await this.#client.create(namespaceType, { metadata: { name } });
      return true;
    } catch (error) {
      if (classify(error) !== 'alreadyExists') throw error;
      return false;
    }
  }

  async #setBatch(pods) {
    const name = { namespace: systemNamespace, name: 'inferenceservice-config' };
    const { data } = await this.#client.get(configMapType, name);
    const lifecycle = { ...JSON.parse(data.lifecycle), scaleUpPodBatchSize: pods, scaleDownPodBatchSize: pods };
    const body = { data: { lifecycle: JSON.stringify(lifecycle, null, 2) } };
    await this.#client.patch(configMapType, name, { kind: 'merge', body });
  }
}

function pidOf(name) {
  const member = allMembers().find((candidate) => candidate.dir === folder && candidate.command === name);
  if (member === undefined) throw new Error(`${name} does not run in ${folder}`);
  return member.pid;
}
