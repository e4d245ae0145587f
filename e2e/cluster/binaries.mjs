// The programs of Kubernetes: found in $KUBEBUILDER_ASSETS or in the cache, else built from the pinned Go modules.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { Failure, Unsupported } from './failure.mjs';
import { withLock } from './lock.mjs';
import { run, succeeds } from './run.mjs';
import { cacheOf } from './settings.mjs';

const modules = path.join(import.meta.dirname, 'modules');

/** The version of `module` that the go.mod in `folder` pins. go.mod is the one place where versions are written. */
function pinned(folder, module) {
  const text = readFileSync(path.join(modules, folder, 'go.mod'), 'utf8');
  const line = text
    .split('\n')
    .find((candidate) => candidate.split(/\s+/).includes(module) && !candidate.includes('=>'));
  const version = line
    ?.trim()
    .split(/\s+/)
    .find((word) => /^v\d/.test(word));
  if (version === undefined) throw new Failure(`${folder}/go.mod names no version of ${module}.`);
  return version;
}

/** The version of Kubernetes, such as `v1.34.4`. */
export const kubernetesVersion = pinned('kubernetes', 'k8s.io/kubernetes');

const cache = cacheOf(kubernetesVersion);

const kubernetes = (name) => [name, { folder: 'kubernetes', module: 'k8s.io/kubernetes', source: `cmd/${name}` }];
const sources = new Map([
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy', 'kubectl'].map(
    kubernetes,
  ),
  ['etcd', { folder: 'etcd', module: 'go.etcd.io/etcd/server/v3', source: '' }],
  ['kwok', { folder: 'kwok', module: 'sigs.k8s.io/kwok', source: 'cmd/kwok' }],
  ['coredns', { folder: 'coredns', module: 'github.com/coredns/coredns', source: '' }],
  ['pause', { folder: 'pause', module: undefined, source: '.' }],
]);

/**
 * Finds programs, building what is neither in $KUBEBUILDER_ASSETS nor in the cache.
 *
 * @param {readonly string[]} names
 * @param {(sentence: string) => void} say called before each build
 * @returns {Promise<Record<string, string>>} the path of each program by its name
 * @throws {Failure} when one is missing and cannot be built here
 */
export async function binaries(names, say) {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  const paths = {};
  const cached = [];
  for (const name of names) {
    const given = assets === undefined ? undefined : path.join(assets, name);
    if (given !== undefined && existsSync(given)) paths[name] = given;
    else cached.push(name);
  }
  mkdirSync(cache, { recursive: true });
  await withLock(cache, 3_600_000, async () => {
    const missing = [];
    for (const name of cached) {
      paths[name] = path.join(cache, name);
      if (!(await isCurrent(name))) missing.push(name);
    }
    if (missing.length > 0) await requireGo(missing);
    for (const name of missing) {
      say(`Building ${name} (kept in ${cache}).`);
      await build(name);
    }
  });
  return paths;
}

async function requireGo(missing) {
  if (await succeeds(['go', 'version'])) return;
  throw new Unsupported(
    `${missing.join(', ')} must be built, and Go is not installed. Install Go 1.26 or newer, or name a folder that has ` +
      'etcd, kube-apiserver and kubectl in KUBEBUILDER_ASSETS, or use a cluster of your own with OME_CLUSTER=current or ' +
      'one made by kind with OME_CLUSTER=kind.',
  );
}

/** Whether the cached program was built from the pinned module, or from our own source as it is. Where Go is missing, a cache is taken as it is. */
async function isCurrent(name) {
  const binary = path.join(cache, name);
  const { folder, module } = sources.get(name);
  if (!existsSync(binary)) return false;
  if (!(await succeeds(['go', 'version']))) return true;
  if (module === undefined) return statSync(binary).mtimeMs > statSync(path.join(modules, folder, 'main.go')).mtimeMs;
  const info = await run(['go', 'version', '-m', binary]);
  return info.includes(`\tmod\t${module}\t${pinned(folder, module)}\t`);
}

async function build(name) {
  const { folder, module, source } = sources.get(name);
  const version = 'k8s.io/component-base/version';
  const [major, minor] = kubernetesVersion.slice(1).split('.');
  const ldflags = ['-s -w'];
  if (folder === 'kubernetes') {
    ldflags.push(
      `-X ${version}.gitVersion=${kubernetesVersion} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`,
    );
  }
  const unfinished = path.join(cache, `.${name}.unfinished`);
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', ldflags.join(' '), '-o', unfinished];
  await run(['go', 'build', ...flags, module === undefined ? source : path.posix.join(module, source)], {
    cwd: path.join(modules, folder),
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' },
  });
  renameSync(unfinished, path.join(cache, name)); // Whole or not at all.
}
