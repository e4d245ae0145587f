import { sweeping } from './testing/sweeping.js';

/** Longer stories, for those who have the time. */
const long = process.env['OME_SOAK'] === '1' ? ['bad-image', 'standalone'] : [];

sweeping(['surge', 'retarget', 'regret', 'pause', 'delete-in-surge', ...long]);
