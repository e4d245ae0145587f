import { sweeping } from './testing/sweeping.js';

/** Longer stories, for those who have the time. */
const long = process.env['OME_SOAK'] === '1' ? ['surge', 'surge-bad-image', 'standalone'] : [];

sweeping(['surge-pause-made', 'surge-delete-draining', ...long], 'all steps');
