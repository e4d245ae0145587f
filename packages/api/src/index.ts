export * from './crds/index.js';
export type * from './generated/types.js';
export * from './hash.js';
export * from './labels.js';
export * from './names.js';
export * from './status/codec.js';
export * from './status/rows.js';
export * from './status/time.js';
