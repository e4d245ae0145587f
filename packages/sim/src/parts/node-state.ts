/** Whether a node's kubelet and containers are alive, and how its clock is set. */

import { Random } from '../base/random.js';
import type { World } from '../base/world.js';

/** `silent`: the kubelet is gone and its containers run on. `crashed`: everything on the node is gone. */
export type NodeState = 'up' | 'silent' | 'crashed';

export function nodeState(world: World, node: string): NodeState {
  return (world.notes.get(`node/${node}`) as NodeState | undefined) ?? 'up';
}

export function setNodeState(world: World, node: string, state: NodeState): void {
  if (state === 'up') world.notes.delete(`node/${node}`);
  else world.notes.set(`node/${node}`, state);
}

/** The node's clock minus the server's, milliseconds: the same through the life of a world. */
export function clockOffsetMs(world: World, node: string): number {
  return Random.seeded(world.origin.seed, `clock ${node}`).within(world.options.nodeClockSkewMs);
}
