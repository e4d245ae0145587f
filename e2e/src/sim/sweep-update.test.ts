import { sweeping } from './testing/sweeping.js';

/** Longer stories, for those who have the time. */
const long = process.env['OME_SOAK'] === '1' ? ['surge-bad-image', 'standalone'] : [];

sweeping(['surge', 'surge-retarget-made', 'surge-regret-made', 'surge-pause-made', 'surge-delete-draining', ...long]);
