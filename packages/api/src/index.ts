export * from './hash.js';
export * from './labels.js';
export * from './names.js';
export * from './status/rows.js';
