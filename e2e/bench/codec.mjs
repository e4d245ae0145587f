// How long the status codec takes for many rows, each way and in both encodings: `node e2e/bench/codec.mjs [rows]`.
// Works on the built packages (`npm run build`). Of 20 rounds it prints the median, that of the processor's time (with the
// garbage collector's threads), and the fastest; JSON.stringify of the same beside it tells how busy the machine was.
import { decodeStatus, emptyStatus, encodeAs, estimateStatusBytes, newRowBase } from '@omenative/api';
import { creatingRow, revision, startedAt } from '../dist/status/testing/replicas.js';

const count = Number(process.argv[2] ?? 10_000);
const rounds = 20;

/** A row at rest, ready since a time of its own. */
function ready(index) {
  const published = { pods: 1, serving: 1, available: 1, admitted: true };
  return {
    ...newRowBase(index),
    running: revision,
    target: revision,
    published,
    readySince: startedAt + index,
    kind: 'ready',
  };
}

function statusOf(rowOf) {
  const rows = new Map(Array.from({ length: count }, (_, index) => [index, rowOf(index)]));
  return { ...emptyStatus, rows, order: [...rows.keys()], current: revision, update: revision };
}

/** The status as the controller has it: read from the API server. */
function read(text) {
  const result = decodeStatus(JSON.parse(text));
  if (!result.ok) throw new Error(result.message);
  return result.status;
}

function median(values) {
  values.sort((a, b) => a - b);
  return (values[rounds / 2 - 1] + values[rounds / 2]) / 2;
}

const column = (value) => value.toFixed(1).padStart(7);

/** Times `run` over a fresh input each round, so that nothing is remembered from the round before. */
function measure(name, prepare, run) {
  const wall = [];
  const processor = [];
  for (let round = -3; round < rounds; round++) {
    const input = prepare();
    const used = process.cpuUsage();
    const from = performance.now();
    run(input);
    // The first rounds warm the compiler up.
    if (round < 0) continue;
    wall.push(performance.now() - from);
    const { user, system } = process.cpuUsage(used);
    processor.push((user + system) / 1000);
  }
  console.log(`  ${name.padEnd(44)} ${column(median(wall))} ${column(median(processor))} ${column(wall[0])}`);
}

console.log(`  ${'milliseconds'.padEnd(44)}  median  of CPU fastest`);
for (const [name, rowOf] of Object.entries({ creating: creatingRow, ready })) {
  console.log(`${count} rows ${name}:`);
  const made = statusOf(rowOf);
  const dense = JSON.stringify(encodeAs(made, 'DenseV1').status);
  for (const encoding of ['DenseV1', 'ColumnarV2']) {
    const text = JSON.stringify(encodeAs(made, encoding).status);
    const wire = () => JSON.parse(text);
    measure(
      `encode ${encoding}, ${text.length} bytes`,
      () => read(dense),
      (status) => encodeAs(status, encoding),
    );
    measure('  JSON.stringify of it', wire, (parsed) => JSON.stringify(parsed));
    measure(`decode ${encoding}`, wire, (parsed) => decodeStatus(parsed));
  }
  const kept = read(dense);
  const changed = () => ({ ...kept, rows: new Map([...kept.rows, [7, rowOf(7)]]) });
  measure(
    'estimate, after a read',
    () => read(dense),
    (status) => estimateStatusBytes(status),
  );
  measure('estimate, one row new', changed, (status) => estimateStatusBytes(status));
  measure(
    'estimate, nothing new',
    () => kept,
    (status) => estimateStatusBytes(status),
  );
}
