// Fails when a package reaches a package outside its row, in package.json, tsconfig references or any import form.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const scope = '@omenative/';
const rows = {
  api: [],
  engine: ['api'],
  kube: [],
  controllers: ['api', 'engine', 'kube'],
  manager: ['api', 'engine', 'kube', 'controllers'],
  'kubectl-ome': ['api', 'engine', 'kube', 'controllers'],
  sim: ['api'],
};
// The only entry point of a package that another one may use: a tool that looks must not reach what writes.
const doors = { 'kubectl-ome': { controllers: 'observe' } };
// Third-party packages that only one workspace package may touch.
const only = { '@kubernetes/client-node': 'kube' };

const root = path.resolve(import.meta.dirname, '..');
const read = (...p) => readFileSync(path.join(root, ...p), 'utf8');
const errors = [];
const importRe = /(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"\n]+)\1/g;

for (const dir of readdirSync(path.join(root, 'packages'))) {
  const allowed = rows[dir];
  if (!allowed) {
    errors.push(`packages/${dir}: not in the table of tools/arrows.mjs`);
    continue;
  }
  const manifest = JSON.parse(read('packages', dir, 'package.json'));
  const deps = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies });
  const local = deps.filter((d) => d.startsWith(scope)).map((d) => d.slice(scope.length));
  const refs = JSON.parse(read('packages', dir, 'tsconfig.json')).references.map((r) => path.basename(r.path));
  for (const d of [...local, ...refs]) {
    if (!allowed.includes(d)) errors.push(`packages/${dir}: may not depend on ${d}`);
  }
  if (local.toSorted().join() !== refs.toSorted().join()) {
    errors.push(`packages/${dir}: package.json [${local.join()}] and tsconfig references [${refs.join()}] differ`);
  }
  const src = path.join(root, 'packages', dir, 'src');
  for (const rel of readdirSync(src, { recursive: true })) {
    if (!/\.[cm]?tsx?$/.test(rel)) continue;
    const file = path.join(src, rel);
    for (const [, , spec] of readFileSync(file, 'utf8').matchAll(importRe)) {
      const at = `${path.relative(root, file)}: '${spec}'`;
      if (spec.startsWith('.')) {
        if (!path.resolve(path.dirname(file), spec).startsWith(src + path.sep)) errors.push(`${at} leaves the package`);
      } else if (spec.startsWith(scope)) {
        const [name, ...sub] = spec.slice(scope.length).split('/');
        if (name !== dir && !allowed.includes(name)) errors.push(`${at} is against the arrows`);
        else if (name !== dir && !local.includes(name)) errors.push(`${at} is not in package.json`);
        const door = doors[dir]?.[name];
        if (door !== undefined && sub.join('/') !== door)
          errors.push(`${at}: only ${scope}${name}/${door} may be used here`);
        if (sub[0] === 'dist' || sub[0] === 'src') errors.push(`${at} reaches into a package`);
      } else {
        for (const [pkg, owner] of Object.entries(only)) {
          if ((spec === pkg || spec.startsWith(`${pkg}/`)) && owner !== dir) errors.push(`${at} belongs to ${owner}`);
        }
      }
    }
  }
}
for (const e of errors) console.error(e);
console.log(errors.length === 0 ? 'arrows: ok' : `arrows: ${errors.length} faults`);
process.exitCode = errors.length === 0 ? 0 : 1;
