/** The wire to a real API server, and where its address and credentials come from. */
export * from './connection.js';
export { type HttpMetrics, HttpTransport, type HttpTransportOptions } from './http-transport.js';
export * from './kubeconfig.js';
export { NoClusterError } from './kubeconfig-files.js';
