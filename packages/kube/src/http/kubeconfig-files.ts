/**
 * Which kubeconfig files there are, looked for as kubectl does. Where it finds none, kubectl goes on to port 8080 of this
 * machine, where anything may listen; here that is an error.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** There is no kubeconfig; the message says where it was looked for. */
export class NoClusterError extends Error {
  override readonly name = 'NoClusterError';
}

/**
 * The files to merge, at least one: `file` when given, or else those of `KUBECONFIG` that exist, or else `~/.kube/config`.
 *
 * @throws NoClusterError when there is none.
 */
export function kubeconfigFiles(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] {
  const listed = (env['KUBECONFIG'] ?? '').split(path.delimiter).filter((name) => name !== '');
  const home = path.join(env['HOME'] ?? homedir(), '.kube', 'config');
  if (file !== undefined) return existing([file], `the kubeconfig ${file} does not exist`);
  if (listed.length === 0) return existing([home], `KUBECONFIG is not set, and ${home} does not exist`);
  const what = listed.length === 1 ? 'which does not exist' : 'none of which exists';
  return existing(listed, `KUBECONFIG names ${listed.join(', ')}, ${what}`);
}

function existing(files: readonly string[], otherwise: string): readonly [string, ...string[]] {
  const [first, ...others] = files.filter((name) => existsSync(name));
  if (first === undefined) throw new NoClusterError(`no cluster: ${otherwise}`);
  return [first, ...others];
}
