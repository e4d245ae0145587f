export * from './loopback-server.js';
export * from './objects.js';
export * from './scripted-transport.js';
export * from './tcp-proxy.js';
export * from './virtual-runtime.js';
