// How long a new image takes to be everywhere, gang by gang with a surge of a quarter: `node e2e/bench/update.mjs`.
import { images, withBed } from './lib/bed.mjs';
import { load, machine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';
import { describeManager, fixed, median } from './lib/report.mjs';
import { replicaType } from './lib/workloads.mjs';

const options = readOptions();
const { gangs, rounds } = options;
const pods = gangs * 2;
const namespace = 'gangs';

await withBed({ ...options, name: 'update' }, async (bed) => {
  console.log(`${machine()}\n${gangs} gangs of 2, SurgeThenDrain, maxSurge 25%; batches of ${options.batch} pods`);
  const watch = await bed.namespace(namespace);
  await bed.createGangs(namespace, gangs);
  await watch.when(`${pods} pods ready`, () => watch.ready === pods);
  const writes = [];
  const seconds = [];
  for (let round = 1; round <= rounds; round++) {
    const image = round % 2 === 1 ? images.second : images.first;
    const { result, cpu, totalCpu, busyCores, manager } = await bed.measure(async () => {
      const fromMs = performance.now();
      await bed.updateGangs(namespace, image);
      const isOver = () => watch.readyOn(image) === pods && watch.pods === pods;
      return ((await watch.when(`${pods} pods on ${image}`, isOver, 1_800_000)) - fromMs) / 1000;
    });
    console.log(
      `round ${round}: ${fixed(result)} s; processor: all ${fixed(totalCpu)} s (${fixed(busyCores)} cores busy),` +
        ` API server ${fixed(cpu['API server'])} s, manager ${fixed(cpu['manager'])} s; ${load()}`,
    );
    describeManager(manager, pods);
    writes.push(manager.writes / pods);
    seconds.push(result);
  }
  console.log(`median of ${rounds}: ${fixed(median(seconds))} s, writes a pod ${median(writes).toFixed(2)} (target 7)`);
  await bed.remove(replicaType, 'gangs', namespace, watch);
});
