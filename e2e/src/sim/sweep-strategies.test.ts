import { sweeping } from './testing/sweeping.js';

const ways = ['surge', 'gang-surge', 'recreate', 'gang-recreate', 'in-place'];
const stories = ['release', 'pause-made', 'regret-made', 'strategy', 'delete-draining'];

/** All of two Instances, for those who have the time. */
const long =
  process.env['OME_SOAK'] === '1' ? ways.flatMap((way) => [way, ...stories.map((story) => `${way}-${story}`)]) : [];

sweeping([...ways.flatMap((way) => [`lone-${way}`, `lone-${way}-retarget`]), ...long], 'last step');
