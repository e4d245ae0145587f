/** The quota controller: usage is recounted some time after objects go. */

import { quotasOf, recountQuota } from '../api/quota.js';
import { allResources } from '../api/resources.js';
import { keyOf, objectKey } from '../base/object.js';
import type { Change } from '../base/store.js';
import type { Part, World } from '../base/world.js';
import { isTerminal, type Pod } from './model.js';

export const quotas: Part = {
  handlers: {
    'quotas.recount': (world: World, args: { readonly key: string }) => {
      world.notes.delete(`quotas/${args.key}`);
      const quota = world.store.get('resourcequotas', args.key);
      if (quota !== undefined) recountQuota(world, quota, allResources(world));
    },
  },

  onChange(world: World, change: Change): void {
    const { object, resource } = change;
    if (resource === 'resourcequotas') {
      if (change.type !== 'DELETED') recountSoon(world, keyOf(object), change.type === 'ADDED' ? [0, 100] : [100, 500]);
      return;
    }
    const ended = resource === 'pods' && change.type === 'MODIFIED' && isTerminal(object as Pod);
    if (change.type !== 'DELETED' && !ended) return;
    for (const quota of quotasOf(world, object.metadata.namespace ?? '')) {
      recountSoon(world, objectKey(object.metadata.namespace, quota.metadata.name), world.options.quotaLagMs);
    }
  },
};

function recountSoon(world: World, key: string, lag: readonly [number, number]): void {
  const note = `quotas/${key}`;
  if (world.notes.has(note)) return;
  world.notes.set(note, true);
  world.after(lag, 'quotas.recount', { key });
}
