// Imports every workspace package with plain node: jest and esbuild accept named imports from CommonJS that node refuses.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

for (const name of ['api', 'engine', 'kube', 'controllers', 'manager', 'sim']) {
  await import(`@omenative/${name}`);
}
const dir = mkdtempSync(path.join(tmpdir(), 'omenative-smoke-'));
copyFileSync('dist/manager.mjs', path.join(dir, 'manager.mjs'));
const r = spawnSync(process.execPath, ['manager.mjs', '--version'], { cwd: dir, encoding: 'utf8', timeout: 30_000 });
rmSync(dir, { recursive: true });
if (r.status !== 0 || r.stderr !== '') {
  console.error(r.status, r.stdout, r.stderr);
  process.exit(1);
}
console.log(`smoke: 6 packages and the bundle load on ${process.version}`);
