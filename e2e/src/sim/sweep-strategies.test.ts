import { sweeping } from './testing/sweeping.js';

const ways = ['surge', 'gang-surge', 'recreate', 'gang-recreate', 'in-place'];
const stories = ['release', 'pause-made', 'regret-made', 'strategy', 'delete-draining'];

/** All of two Instances, and changes of mind, for those who have the time. */
const long =
  process.env['OME_SOAK'] === '1'
    ? ways.flatMap((way) => [way, `lone-${way}-retarget`, ...stories.map((story) => `${way}-${story}`)])
    : [];

sweeping([...new Set([...ways.map((way) => `lone-${way}`), 'lone-gang-surge-retarget', ...long])], 'last step');
