/**
 * One command at a time works on a cluster. A lock is a name in the kernel's table of abstract sockets, which goes with
 * the process that holds it, however that ends: there is no file that could be left behind.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { until } from './wait.mjs';

/**
 * Runs `work` while holding the lock on `folder`.
 *
 * @template T
 * @param {string} folder what is worked on
 * @param {number} timeoutMs how long to wait for another process that holds it
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} what `work` returned
 * @throws {import('./failure.mjs').Failure} when the lock was not free in time
 */
export async function withLock(folder, timeoutMs, work) {
  const name = `\0ome-cluster-${createHash('sha256').update(folder).digest('hex')}`;
  const lock = await until(`no other command works on ${folder}`, timeoutMs, () => acquire(name));
  try {
    return await work();
  } finally {
    lock.close();
  }
}

function acquire(name) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(name, () => resolve(server.unref()));
  });
}
