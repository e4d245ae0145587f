/** For tests of what is built on this package: virtual time, a scripted wire, and a real but bad network. */
export * from './loopback-server.js';
export * from './objects.js';
export * from './scripted-transport.js';
export * from './tcp-proxy.js';
export * from './virtual-runtime.js';
