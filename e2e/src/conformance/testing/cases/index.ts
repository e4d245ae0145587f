/** All cases. */
import type { Case } from '../bed.js';
import { applies } from './applies.js';
import { custom } from './custom.js';
import { deletes } from './deletes.js';
import { dryRuns } from './dry-runs.js';
import { evictions } from './evictions.js';
import { inPlace } from './in-place.js';
import { kubelets } from './kubelets.js';
import { owners } from './owners.js';
import { patches } from './patches.js';
import { pods } from './pods.js';
import { reads } from './reads.js';
import { refusals } from './refusals.js';
import { refusers } from './refusers.js';
import { scheduling } from './scheduling.js';
import { services } from './services.js';
import { templates } from './templates.js';
import { tenancy } from './tenancy.js';
import { terminations } from './terminations.js';
import { watches } from './watches.js';
import { writes } from './writes.js';

export const cases: readonly Case[] = [
  ...writes,
  ...patches,
  ...applies,
  ...deletes,
  ...reads,
  ...refusals,
  ...refusers,
  ...dryRuns,
  ...watches,
  ...custom,
  ...pods,
  ...templates,
  ...evictions,
  ...services,
  ...tenancy,
  ...owners,
  ...scheduling,
  ...kubelets,
  ...terminations,
  ...inPlace,
];

/** Cases as a table of tests: what `%s: %s` calls them by, and they themselves. */
export function titled(some: readonly Case[]): (readonly [id: string, title: string, one: Case])[] {
  return some.map((one) => [one.id, one.title, one]);
}
