/** A stock kubectl, if there is one around, pointed at a cluster. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Path of a kubectl: on PATH, among the test binaries, or in the cache of `scripts/cluster`. */
export function findKubectl(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const cache =
    env['OME_CLUSTER_CACHE'] ?? path.join(env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'ome-cluster');
  const built = existsSync(cache) ? readdirSync(cache).map((version) => path.join(cache, version, 'bin')) : [];
  const folders = [...(env['PATH'] ?? '').split(path.delimiter), env['KUBEBUILDER_ASSETS'] ?? '', ...built];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, 'kubectl'))
    .find((file) => existsSync(file));
}

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds after which a command is ended: none of them has to wait for long. */
const limitMs = 60_000;

export class Kubectl {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;

  /** `home` takes its discovery cache. */
  constructor(program: string, kubeconfig: string, home: string) {
    this.#program = program;
    this.#env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig };
  }

  /** Resolves with what came of it, whatever that is. `input` is what it reads from `-f -`. */
  run(args: readonly string[], input: string = ''): Promise<Outcome> {
    return new Promise((resolve) => {
      const options = { env: this.#env, timeout: limitMs };
      const child = execFile(this.#program, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        resolve({ exitCode: typeof code === 'number' ? code : -1, stdout, stderr });
      });
      child.stdin?.end(input);
    });
  }

  /**
   * Runs a command of words without spaces and resolves with what it printed.
   *
   * @throws Error with what it said when it fails.
   */
  async ok(command: string, input: string = ''): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(command.split(' '), input);
    if (exitCode !== 0) throw new Error(`kubectl ${command} ended with exit code ${exitCode}: ${stderr}`);
    return stdout;
  }

  /** Starts a command that goes on; the caller kills it. */
  start(command: string): ChildProcess {
    return spawn(this.#program, command.split(' '), { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
}
