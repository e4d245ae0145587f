// Golden files: objects, hashes and statuses as the controllers have written them into clusters. A cluster holds them for
// years, so a version that writes any of them in another way may restart a fleet when it is installed. Therefore no golden
// file ever changes: this check compares each with its SHA-256 in golden.sums and fails on one that was changed, removed or
// not entered.
//
//   node tools/golden.mjs          check (a part of the lint and of the simulation suite)
//   node tools/golden.mjs --add    enter files that are new; what is entered already is never touched
//
// To add a case: write its input (e2e/golden/objects/NAME/in.yaml, or e2e/golden/statuses/NAME.in.yaml), build, run
// `node e2e/dist/sim/write-golden.js`, which writes what is missing and overwrites nothing, read what it wrote, and enter it.
//
// When a test says that a golden file no longer matches, the code is wrong, not the file. If objects have to look different
// from now on, first make sure that the new version leaves the pods of the old objects alone (e2e/src/sim/adoption.test.ts
// has a place for such a world), then delete the file and its line in golden.sums by hand, and say in the commit what happens
// to the clusters that hold it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const folders = ['e2e/golden', 'packages/engine/golden'];
const manifest = path.join(root, 'tools', 'golden.sums');

const byText = (a, b) => (a < b ? -1 : 1);
const sumOf = (file) =>
  createHash('sha256')
    .update(readFileSync(path.join(root, file)))
    .digest('hex');
const found = folders
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')),
  )
  .toSorted(byText);
const entered = new Map(
  (existsSync(manifest) ? readFileSync(manifest, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(66), line.slice(0, 64)]),
);

const fresh = found.filter((file) => !entered.has(file));
const faults = [...entered].flatMap(([file, sum]) => {
  if (!found.includes(file)) return [`${file} is gone`];
  return sumOf(file) === sum ? [] : [`${file} has changed`];
});
if (process.argv.includes('--add')) {
  const sums = new Map([...entered, ...fresh.map((file) => [file, sumOf(file)])]);
  const lines = [...sums].toSorted(([a], [b]) => byText(a, b)).map(([file, sum]) => `${sum}  ${file}\n`);
  writeFileSync(manifest, lines.join(''));
  console.log(`golden: entered ${fresh.length} files`);
} else {
  faults.push(...fresh.map((file) => `${file} is not entered: node tools/golden.mjs --add`));
}
for (const fault of faults) console.error(fault);
if (faults.length > 0)
  console.error('Golden files never change: read tools/golden.mjs before you do anything about it.');
else if (!process.argv.includes('--add')) console.log(`golden: ${entered.size} files are as they were`);
process.exitCode = faults.length === 0 ? 0 : 1;
