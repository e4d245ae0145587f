/** Writes the golden files of new inputs; `tools/golden.mjs` says when and how. */
import { writeMissing } from './testing/golden.js';

for (const file of await writeMissing()) console.log(file);
