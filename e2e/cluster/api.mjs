// The few requests that starting a cluster needs.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { file, ports } from './settings.mjs';

/**
 * Asks the API server of the cluster as its administrator.
 *
 * @param {{ host: string, adminToken: string }} cluster
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<{ status: number, body: string }>} status 0 when nobody answers
 */
export function ask(cluster, method, path, body) {
  return new Promise((resolve) => {
    const unanswered = () => resolve({ status: 0, body: '' });
    let ca;
    try {
      ca = readFileSync(file('certs', 'apiserver.crt'));
    } catch {
      return unanswered(); // The API server writes its certificate when it starts.
    }
    const headers = { authorization: `Bearer ${cluster.adminToken}`, 'content-type': 'application/json' };
    const options = { host: cluster.host, port: ports.api, method, path, ca, headers, timeout: 5_000 };
    const outgoing = request(options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text })).on('error', unanswered);
    });
    outgoing.on('timeout', () => outgoing.destroy()).on('error', unanswered);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** @returns {Promise<readonly string[]>} the names of the nodes that are Ready */
export async function readyNodes(cluster) {
  const { status, body } = await ask(cluster, 'GET', '/api/v1/nodes');
  if (status !== 200) return [];
  const { items } = JSON.parse(body);
  return items.filter(isReady).map((node) => node.metadata.name);
}

const isReady = (node) => node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
