/** Generators of API values for property tests. Needs the development dependency fast-check; products never import it. */
export * from './columnar.js';
export * from './rows.js';
export * from './wire.js';
