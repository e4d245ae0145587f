/** A loader that changes one file of the product on its way in. The mutant comes with the registration. */
import type { LoadHook } from 'node:module';
import type { Mutant } from './mutants.js';

let mutant: Mutant | undefined;

export function initialize(data: Mutant): void {
  mutant = data;
}

function textOf(source: unknown): string {
  return typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const edits = mutant?.edits.filter((edit) => url.endsWith(`/packages/${edit.file}`)) ?? [];
  if (edits.length === 0) return loaded;
  const source = edits.reduce((text, { file, find, replace }) => {
    if (!text.includes(find)) throw new Error(`mutant "${mutant?.name}": ${file} no longer contains: ${find}`);
    return text.replace(find, () => replace);
  }, textOf(loaded.source));
  return { ...loaded, source };
};
