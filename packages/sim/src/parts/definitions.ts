/** What becomes of custom objects when their definition goes: they go too. */

import { CRDS } from '../api/resources.js';
import type { Change } from '../base/store.js';
import type { Part, World } from '../base/world.js';

const ME = 'apiextensions-controller';

export const definitions: Part = {
  handlers: {
    'definitions.clear': (world: World, args: { readonly resource: string }) => {
      for (const object of world.store.list(args.resource)) world.commit(args.resource, undefined, object, ME);
    },
  },

  onChange(world: World, change: Change): void {
    if (change.resource !== CRDS || change.type !== 'DELETED') return;
    world.after([10, 500], 'definitions.clear', { resource: change.object.metadata.name });
  },
};
