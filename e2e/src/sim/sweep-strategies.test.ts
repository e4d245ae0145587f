import { sweeping } from './testing/sweeping.js';

const ways = ['surge', 'gang-surge', 'recreate', 'gang-recreate', 'in-place'];
const stories = ['release', 'pause-made', 'regret-made', 'strategy', 'delete-draining'];

/** One Instance alone, and the hardest of the changes of mind. */
const short = [...ways.map((way) => `lone-${way}`), 'lone-gang-surge-retarget'];

/** Longer stories, for those who have the time. */
const long = [
  ...ways.map((way) => `lone-${way}-retarget`).filter((name) => !short.includes(name)),
  ...ways.flatMap((way) => [way, ...stories.map((story) => `${way}-${story}`)]),
];

sweeping(process.env['OME_SOAK'] === '1' ? [...short, ...long] : short, 'last step');
