export * from './effects.js';
export * from './hold.js';
export * from './plan-types.js';
export * from './snapshot.js';
