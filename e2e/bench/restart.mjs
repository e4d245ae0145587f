// What a manager that starts on a running cluster does to it, which must be nothing: `node e2e/bench/restart.mjs`.
import { setTimeout as sleep } from 'node:timers/promises';
import { withBed } from './lib/bed.mjs';
import { cpuSeconds, machine, residentMiB } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';
import { fixed, median } from './lib/report.mjs';
import { replicaType } from './lib/workloads.mjs';

const options = readOptions();
const { gangs, rounds } = options;
const pods = gangs * 2;
const namespace = 'gangs';
/** Long enough for a late write to show. */
const quietMs = 15_000;
/** Times that long, at most, for the status to come to rest. */
const maxLooks = 20;

const isSameSet = (a, b) => a.size === b.size && [...a].every((item) => b.has(item));

/** What is left to be counted and told takes its time: the last EndpointSlices follow the pods by many seconds. */
async function settle(bed) {
  let version = '';
  for (let look = 0; look < maxLooks; look++) {
    const now = await bed.gangVersion(namespace);
    if (now === version) return;
    version = now;
    await sleep(quietMs);
  }
  throw new Error(
    `the gangs are still written to after ${(maxLooks * quietMs) / 1000} s: nothing a restart did could be told`,
  );
}

await withBed({ ...options, name: 'restart' }, async (bed) => {
  console.log(`${machine()}\n${gangs} gangs of 2, ready; the manager is ended and started again`);
  const watch = await bed.namespace(namespace);
  await bed.createGangs(namespace, gangs);
  await watch.when(`${pods} pods ready`, () => watch.ready === pods);
  await settle(bed);
  const ready = [];
  for (let round = 1; round <= rounds; round++) {
    await bed.manager.stop();
    const before = { uids: watch.uids(), changes: watch.changes, version: await bed.gangVersion(namespace) };
    await bed.startManager();
    const readySec = (performance.now() - bed.manager.startedAtMs) / 1000;
    await sleep(quietMs);
    const metrics = await bed.manager.metrics();
    const isSame = isSameSet(before.uids, watch.uids()) && before.version === (await bed.gangVersion(namespace));
    console.log(
      `round ${round}: ready after ${fixed(readySec)} s (target 10); ${metrics.writes} writes, ${metrics.events} Events,` +
        ` ${watch.changes - before.changes} changes of pods, ${isSame ? 'the same pods and status' : 'OTHER PODS OR STATUS'};` +
        ` ${metrics.passes} passes, longest pause ${metrics.longestPauseMs.toFixed(0)} ms,` +
        ` processor ${fixed(cpuSeconds(bed.manager.pid))} s, memory ${residentMiB(bed.manager.pid).now.toFixed(0)} MiB`,
    );
    ready.push(readySec);
  }
  console.log(`median of ${rounds}: ready after ${fixed(median(ready))} s`);
  await bed.remove(replicaType, 'gangs', namespace, watch);
});
