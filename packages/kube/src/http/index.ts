export * from './connection.js';
export { type HttpMetrics, HttpTransport, type HttpTransportOptions } from './http-transport.js';
export * from './kubeconfig.js';
