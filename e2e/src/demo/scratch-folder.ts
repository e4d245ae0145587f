/** A folder for one run: kubeconfig, manifests, the manager's log. */
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '@omenative/controllers';
import type { KubeObject, Runtime } from '@omenative/kube';
import { stringify } from 'yaml';

export class ScratchFolder {
  readonly path: string = mkdtempSync(path.join(tmpdir(), 'ome-demo-'));

  get logFile(): string {
    return path.join(this.path, 'manager.log');
  }

  /** Writes the manager's lines as JSON, one each. */
  openLog(runtime: Pick<Runtime, 'nowMs'>): Log {
    const file = openSync(this.logFile, 'a');
    return (level, msg, fields) => {
      const ts = new Date(runtime.nowMs()).toISOString();
      writeSync(file, `${JSON.stringify({ level, ts, msg, ...fields })}\n`);
    };
  }

  /** Writes a file of manifests and returns its path. */
  writeManifests(name: string, objects: readonly KubeObject[]): string {
    const file = path.join(this.path, `${name}.yaml`);
    writeFileSync(file, objects.map((object) => stringify(object)).join('---\n'));
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
