// `npm run bench -- NAME [options]`: runs one benchmark. docs/performance.md says what they are for.
const names = ['create', 'update', 'restart', 'cache', 'codec'];

const [name] = process.argv.splice(2, 1);
if (names.includes(name)) {
  await import(`./${name}.mjs`);
} else {
  console.error(`usage: npm run bench -- ${names.join('|')} [options]`);
  process.exitCode = 1;
}
