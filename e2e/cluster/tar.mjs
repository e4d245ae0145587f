// Writing tar archives (the POSIX ustar format), as much of it as an image needs.

const blockBytes = 512;

/**
 * @typedef {object} Entry a file, folder or symbolic link
 * @property {string} name its path in the archive
 * @property {number} [mode] permission bits; 0o755 by default
 * @property {Uint8Array | string} [content] makes it a file
 * @property {string} [target] makes it a symbolic link; without `content` and `target` it is a folder
 */

/**
 * @param {readonly Entry[]} entries with names of at most 100 bytes
 * @returns {Buffer} the archive, the same for the same entries: every time and owner in it is zero
 */
export function tar(entries) {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * blockBytes)]);
}

function blocksOf(entry) {
  const content = Buffer.from(entry.content ?? '');
  const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
  return [headerOf(entry, content.length), content, padding];
}

function headerOf({ name, mode = 0o755, content, target }, size) {
  const header = Buffer.alloc(blockBytes);
  const octal = (value, offset, length) => header.write(value.toString(8).padStart(length - 1, '0'), offset, 'ascii');
  header.write(name, 0, 100, 'utf8');
  octal(mode, 100, 8);
  octal(0, 108, 8); // user
  octal(0, 116, 8); // group
  octal(size, 124, 12);
  octal(0, 136, 12); // time of change
  header.write(' '.repeat(8), 148, 'ascii'); // The checksum counts itself as spaces.
  header.write(target !== undefined ? '2' : content !== undefined ? '0' : '5', 156, 'ascii');
  header.write(target ?? '', 157, 100, 'utf8');
  header.write('ustar\x0000', 257, 'ascii');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii');
  return header;
}
