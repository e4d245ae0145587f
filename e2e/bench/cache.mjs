// What ten thousand pods take in the manager's caches, and whether reading them stops everything else:
// `node e2e/bench/cache.mjs [pods]`. Needs no cluster: a process beside it plays the API server.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCaches, startCaches, stopCaches, whenCachesSynced } from '@omenative/controllers';
import { HttpTransport, systemRuntime } from '@omenative/kube';
import { load, machine } from './lib/machine.mjs';
import { median } from './lib/report.mjs';

const count = Number(process.argv[2] ?? 10_000);
const rounds = 5;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function heapMiB() {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/**
 * Looks each millisecond how long nothing else could run. On a shared machine a pause is also the time that other processes
 * took: what this process itself computed meanwhile is told beside it.
 */
function watchPauses() {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  let used = process.cpuUsage();
  let longestCpuMs = 0;
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    longestCpuMs = Math.max(longestCpuMs, (user + system) / 1000);
    used = process.cpuUsage();
  }, 1);
  return () => {
    clearInterval(timer);
    histogram.disable();
    return { longestMs: histogram.max / 1e6, p99Ms: histogram.percentile(99) / 1e6, longestCpuMs };
  };
}

const server = fork(path.join(import.meta.dirname, 'lib/list-server.mjs'), [String(count)]);
const [{ port, podBytes }] = await once(server, 'message');
const connection = {
  server: `http://127.0.0.1:${port}`,
  namespace: 'default',
  credentials: async () => ({ tls: { verification: 'strict' } }),
};
const runtime = systemRuntime();

async function run() {
  const transport = new HttpTransport({ connection, runtime, userAgent: 'omenative-bench' });
  const caches = createCaches({
    transport,
    runtime,
    configNamespace: 'ome',
    report: ({ message }) => console.error(message),
  });
  // Somebody listens, as a controller does.
  const isTold = new Promise((resolve) => {
    let heard = 0;
    caches.pods.subscribe(() => {
      if (++heard === count) resolve();
    });
  });
  const before = heapMiB();
  const pauses = watchPauses();
  const used = process.cpuUsage();
  const fromMs = performance.now();
  startCaches(caches);
  await whenCachesSynced(caches);
  await isTold;
  const seconds = (performance.now() - fromMs) / 1000;
  const { user, system } = process.cpuUsage(used);
  const { longestMs, p99Ms, longestCpuMs } = pauses();
  const heap = heapMiB() - before;
  console.log(
    `  ${heap.toFixed(1)} MiB of heap; in step after ${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of processor;` +
      ` longest pause ${longestMs.toFixed(0)} ms (99th percentile ${p99Ms.toFixed(0)} ms),` +
      ` longest stretch of own work ${longestCpuMs.toFixed(0)} ms; ${load()}`,
  );
  stopCaches(caches);
  transport.close();
  await sleep(500); // Until the sockets have let go of what they held.
  return { heap, longestMs, longestCpuMs };
}

console.log(`${machine()}\n${count} pods of ${podBytes} bytes in the manager's caches`);
const results = [];
for (let round = 0; round < rounds; round++) results.push(await run());
const of = (name) => median(results.map((result) => result[name]));
console.log(
  `median of ${rounds}: ${of('heap').toFixed(1)} MiB (target 64), longest pause ${of('longestMs').toFixed(0)} ms (target 50),` +
    ` longest stretch of own work ${of('longestCpuMs').toFixed(0)} ms`,
);
server.disconnect();
