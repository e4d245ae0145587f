/** All cases. */
import type { Case } from '../bed.js';
import { applies } from './applies.js';
import { custom } from './custom.js';
import { deletes } from './deletes.js';
import { patches } from './patches.js';
import { reads } from './reads.js';
import { watches } from './watches.js';
import { writes } from './writes.js';

export const cases: readonly Case[] = [...writes, ...patches, ...deletes, ...reads, ...watches, ...custom, ...applies];
