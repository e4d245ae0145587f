/** `kubectl ome` as a process of its own, pointed at a cluster. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import type { ExplainReport, PlanReport } from '@omenative/kubectl-ome';
import type { Outcome } from './kubectl.js';

/** The program as it is compiled. */
export const pluginProgram: string = path.resolve(import.meta.dirname, '../../../../packages/kubectl-ome/dist/main.js');
const limitMs = 60_000;

export class Plugin {
  readonly #flags: readonly string[];

  constructor(kubeconfig: string, namespace: string, omeNamespace: string) {
    this.#flags = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--ome-namespace', omeNamespace];
  }

  /** Resolves with what came of it, whatever that is. `input` is what it reads from `-f -`. */
  run(args: readonly string[], input: string = ''): Promise<Outcome> {
    return new Promise((resolve) => {
      const all = [pluginProgram, ...args, ...this.#flags];
      const options = { timeout: limitMs, env: { ...process.env, NODE_OPTIONS: '' } };
      const child = execFile(process.execPath, all, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        resolve({ exitCode: typeof code === 'number' ? code : -1, stdout, stderr });
      });
      child.stdin?.end(input);
    });
  }

  /** What it prints. @throws Error with what it said when it fails. */
  async ok(args: readonly string[], input: string = ''): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args, input);
    if (exitCode !== 0) throw new Error(`kubectl ome ${args.join(' ')} ended with exit code ${exitCode}: ${stderr}`);
    return stdout;
  }

  async explain(target: string): Promise<ExplainReport> {
    return JSON.parse(await this.ok(['explain', target, '-o', 'json'])) as ExplainReport;
  }

  /** The plan of a merge patch. */
  async plan(target: string, patch: object): Promise<PlanReport> {
    return JSON.parse(await this.ok(['plan', target, '--patch', JSON.stringify(patch), '-o', 'json'])) as PlanReport;
  }
}
