// Gives the property tests of every run the same seed, so that one run tells as much as the next. OME_PROPERTY_SEED names
// another; `random` lets each property draw its own, as the soak does.
import fc from 'fast-check';

const { OME_PROPERTY_SEED: seed = '20260601' } = process.env;
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });
