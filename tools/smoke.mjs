// Imports every workspace package with plain node: jest and esbuild accept named imports from CommonJS that node refuses.
// Runs each bundle as it is installed: alone in a folder, by its own name.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const packages = ['api', 'engine', 'kube', 'controllers', 'controllers/observe', 'manager', 'kubectl-ome', 'sim'];
const installed = [
  { bundle: 'manager.mjs', as: 'manager.mjs', args: ['--version'] },
  { bundle: 'kubectl-ome.mjs', as: 'kubectl-ome', args: ['version'] },
];

for (const name of packages) await import(`@omenative/${name}`);
for (const { bundle, as, args } of installed) {
  const dir = mkdtempSync(path.join(tmpdir(), 'omenative-smoke-'));
  copyFileSync(path.join('dist', bundle), path.join(dir, as));
  const r = spawnSync(process.execPath, [as, ...args], { cwd: dir, encoding: 'utf8', timeout: 30_000 });
  rmSync(dir, { recursive: true });
  if (r.status !== 0 || r.stderr !== '') {
    console.error(as, r.status, r.stdout, r.stderr);
    process.exit(1);
  }
}
console.log(`smoke: ${packages.length} packages and ${installed.length} bundles load on ${process.version}`);
