// How long gangs take to be there, beside a StatefulSet of as many pods in the same run: `node e2e/bench/create.mjs`.
import { withBed } from './lib/bed.mjs';
import { load, machine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';
import { describeManager, fixed, median } from './lib/report.mjs';
import { replicaType, statefulSetType } from './lib/workloads.mjs';

const options = readOptions();
const { gangs, rounds } = options;
const pods = gangs * 2;

/** Creates, waits, tells, removes. */
async function run(bed, { name, namespace, type, object, create }) {
  const gated = type === replicaType; // The pods of a StatefulSet have no gate.
  const watch = await bed.namespace(namespace);
  const measured = await bed.measure(async () => {
    const fromMs = performance.now();
    await create(namespace);
    const secondsUntil = async (what, count) => {
      const atMs = await watch.when(`${pods} pods ${what}`, () => count() === pods);
      return (atMs - fromMs) / 1000;
    };
    const [createdSec, runningSec, openSec, readySec] = await Promise.all([
      secondsUntil('created', () => watch.pods),
      secondsUntil('with ready containers', () => watch.running),
      gated ? secondsUntil('with an open gate', () => watch.open) : undefined,
      secondsUntil('ready', () => watch.ready),
    ]);
    return { createdSec, runningSec, openSec, readySec };
  });
  const goneSec = await bed.remove(type, object, namespace, watch);
  const { result, cpu, totalCpu, busyCores } = measured;
  console.log(
    `  ${name.padEnd(12)} created ${fixed(result.createdSec)} s, containers ready ${fixed(result.runningSec)} s,` +
      `${gated ? ` gates open ${fixed(result.openSec)} s,` : ''} ready ${fixed(result.readySec)} s, gone ${fixed(goneSec)} s;` +
      ` processor: all ${fixed(totalCpu)} s (${fixed(busyCores)} cores busy), API server ${fixed(cpu['API server'])} s,` +
      ` manager ${fixed(cpu['manager'])} s; ${load()}`,
  );
  return measured;
}

await withBed({ ...options, name: 'create' }, async (bed) => {
  console.log(`${machine()}\n${pods} pods: a StatefulSet, and ${gangs} gangs of 2; batches of ${options.batch} pods`);
  const ratios = { created: [], ready: [] };
  const managers = [];
  for (let round = 1; round <= rounds; round++) {
    console.log(`round ${round}`);
    const peers = await run(bed, {
      name: 'StatefulSet',
      namespace: `peers-${round}`,
      type: statefulSetType,
      object: 'peers',
      create: (namespace) => bed.createPeers(namespace, pods),
    });
    const ours = await run(bed, {
      name: 'gangs',
      namespace: `gangs-${round}`,
      type: replicaType,
      object: 'gangs',
      create: (namespace) => bed.createGangs(namespace, gangs),
    });
    describeManager(ours.manager, pods);
    ratios.created.push(ours.result.createdSec / peers.result.createdSec);
    ratios.ready.push(ours.result.readySec / peers.result.readySec);
    managers.push(ours.manager);
  }
  console.log(
    `median of ${rounds}: created ${median(ratios.created).toFixed(2)} × the StatefulSet's (target 1.3),` +
      ` ready ${median(ratios.ready).toFixed(2)} × (target 1.5),` +
      ` writes a pod ${median(managers.map(({ writes }) => writes / pods)).toFixed(2)} (target 3)`,
  );
});
