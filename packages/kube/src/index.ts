export * from './runtime.js';
export * from './transport.js';
