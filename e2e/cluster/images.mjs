/**
 * The container images of the test cluster, made here without a container engine or a registry: `pause`, and
 * `busybox:v1`, `busybox:v2`, `busybox:v3`, which differ only in what `/etc/image` says. Their default command `serve`
 * is a web server that tells its image, and ends at once on SIGTERM as a well-behaved workload does.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tar } from './tar.mjs';

/** The name of the image of every pod's sandbox. */
export const pauseImage = 'omenative.test/pause:1';

const tags = ['v1', 'v2', 'v3'];

const applets =
  'cat chmod cp cut date echo env false grep head hostname httpd id kill ls mkdir mv nc nslookup ps rm seq sed sh sleep ' +
  'stat tail test touch tr true wc wget';

// httpd cannot be the first process: that one ignores SIGTERM unless it asks for it.
const serve = `#!/bin/sh
# Serves /www on $PORT; / names the image.
cp /etc/image /www/index.html
httpd -f -p "\${PORT:-8080}" -h /www &
trap 'exit 0' TERM INT
wait
`;

/**
 * Writes one docker-archive file per image.
 *
 * @param {string} folder where to
 * @param {{ pause: string, busybox: string }} programs static executables
 * @returns {void}
 */
export function writeImages(folder, programs) {
  mkdirSync(folder, { recursive: true });
  const pause = [{ name: 'pause', content: readFileSync(programs.pause) }];
  writeFileSync(path.join(folder, 'pause.tar'), archive(pauseImage, pause, ['/pause']));
  const busybox = readFileSync(programs.busybox);
  for (const tag of tags) {
    const name = `busybox:${tag}`;
    const entries = [
      { name: 'bin' },
      { name: 'bin/busybox', content: busybox },
      { name: 'bin/serve', content: serve },
      ...applets.split(' ').map((applet) => ({ name: `bin/${applet}`, target: 'busybox' })),
      { name: 'etc' },
      { name: 'etc/image', mode: 0o644, content: `${name}\n` },
      { name: 'tmp', mode: 0o1777 },
      { name: 'www', mode: 0o1777 },
    ];
    writeFileSync(path.join(folder, `busybox-${tag}.tar`), archive(name, entries, ['serve']));
  }
}

function archive(name, entries, command) {
  const layer = tar(entries);
  const config = JSON.stringify({
    architecture: { x64: 'amd64' }[process.arch] ?? process.arch,
    os: 'linux',
    config: { Cmd: command, Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{}],
  });
  const configName = `${sha256(config)}.json`;
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [name], Layers: ['layer.tar'] }]);
  return tar([
    { name: configName, mode: 0o644, content: config },
    { name: 'layer.tar', mode: 0o644, content: layer },
    { name: 'manifest.json', mode: 0o644, content: manifest },
  ]);
}

const sha256 = (content) => createHash('sha256').update(content).digest('hex');
