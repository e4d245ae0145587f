export * from './scripted-transport.js';
export * from './virtual-runtime.js';
