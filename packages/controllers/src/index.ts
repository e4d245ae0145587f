export * from './caches.js';
export * from './config/index.js';
