/** Shortcuts from hand-made objects to what the code works on. */
import { defaultConfigMap } from '@omenative/controllers/observe';
import type { Snapshot } from '@omenative/engine';
import { lookAround } from '../cluster/look.js';
import { viewReplica } from '../cluster/replica-view.js';
import { readSettings } from '../cluster/settings.js';
import { type Rehearsal, rehearse } from '../rehearsal/rehearse.js';
import type { HandMade } from './hand-made.js';

/** The operator's settings as the chart has them, in their place. */
export function withSettings(cluster: HandMade): HandMade {
  return cluster.put('/api/v1/namespaces/ome/configmaps', { ...defaultConfigMap('ome') });
}

/** What the planner sees of `prod/chat-engine`. */
export async function snapshotOf(cluster: HandMade): Promise<Snapshot> {
  const reach = cluster.reach();
  const { settings } = await readSettings(reach);
  const { caches, atMs } = await lookAround(reach, 'chat');
  const record = caches.replicas.store.get('prod/chat-engine');
  if (record === undefined) throw new Error('there is no replica');
  const view = viewReplica(caches, record, settings, atMs);
  if (view.is === 'blocked') throw new Error(view.message);
  return view.snapshot;
}

export async function rehearsalOf(cluster: HandMade): Promise<Rehearsal> {
  return rehearse(await snapshotOf(cluster));
}
