/** The command line of `kubectl ome`: its commands, their flags, and what becomes of their answers. */
import type { Runtime } from '@omenative/kube';
import { Command, InvalidArgumentError, Option } from 'commander';
import { Problem } from '../cluster/problem.js';
import { targetOf } from '../cluster/target.js';
import { explain } from '../explain/explain.js';
import { explanationLines } from '../explain/print.js';
import { type ChangeFlags, changeOf } from '../plan/change-flags.js';
import { planChange } from '../plan/plan.js';
import { planLines } from '../plan/print.js';
import { type Format, formats, rendered } from '../report/output.js';
import { version } from '../version.js';
import { type ConnectionFlags, connect } from './connect.js';

/** Where a command reads and writes, and what time it has. */
export interface Console {
  readonly runtime: Runtime;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** The text of a file, `-` being the standard input. @throws Error when it can't be read. */
  readonly read: (path: string) => string;
}

/** Runs one command line, the program's name left out; resolves with the exit code. */
export async function run(args: readonly string[], console: Console): Promise<number> {
  try {
    await programOf(console).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    return failed(error, console);
  }
}

function failed(error: unknown, console: Console): number {
  // What commander has to say it has said.
  const { exitCode, code } = error as { readonly exitCode?: number; readonly code?: string };
  if (code?.startsWith('commander.') === true) return exitCode ?? 1;
  console.err(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof Problem ? error.exitCode : 1;
}

interface CommonFlags extends ConnectionFlags {
  readonly output: Format;
  readonly acceleratorResources?: readonly string[];
}

interface PlanFlags extends CommonFlags, ChangeFlags {}

function programOf(console: Console): Command {
  const program = new Command('kubectl ome')
    .description('Looks at InferenceServices and InferenceReplicas of ome.io with the eyes of their controller.')
    .exitOverride()
    .configureOutput({ writeOut: console.out, writeErr: console.err })
    .version(version, '--version');
  addConnectionFlags(program);
  program
    .command('version')
    .description('print the version of this program')
    .action(() => console.out(`Client: ${version}\n`));
  addExplain(program, console);
  addPlan(program, console);
  return program;
}

function addExplain(program: Command, console: Console): void {
  const command = program
    .command('explain')
    .description('tell what a replica, an Instance or an InferenceService waits for, and what comes next')
    .argument('<target...>', 'isvc/NAME, irep/NAME, or irep/NAME instance N');
  addReportFlags(command);
  command.action(async (words: readonly string[], _own: unknown, self: Command) => {
    const flags = self.optsWithGlobals<CommonFlags>();
    const { target, rest } = targetOf(words);
    const instance = instanceOf(rest);
    if (instance !== undefined && target.kind === 'InferenceService') {
      throw new Problem('an Instance is one of a replica: write irep/NAME instance N');
    }
    const { reach, close } = await connect(flags, console.runtime, userAgent);
    try {
      const options = { target, quotaResources: flags.acceleratorResources ?? ('all' as const) };
      const report = await explain(reach, instance === undefined ? options : { ...options, instance });
      console.out(rendered(report, flags.output, explanationLines));
    } finally {
      close();
    }
  });
}

function addPlan(program: Command, console: Console): void {
  const command = program
    .command('plan')
    .description('print the steps that a change would take, without making it')
    .argument('[target...]', 'isvc/NAME or irep/NAME, with --patch')
    .option('-f, --filename <file>', 'manifests as they would be applied; - reads standard input')
    .option('-p, --patch <patch>', 'a patch as kubectl patch takes it, in JSON or YAML')
    .addOption(
      new Option('--type <type>', 'type of the patch').choices(['merge', 'json', 'strategic']).default('merge'),
    )
    .option('--server-side', 'plan what kubectl apply --server-side would do with the file')
    .option('--field-manager <name>', 'field manager of a server-side apply', 'kubectl')
    .option('--force-conflicts', 'take fields over from other managers, as a server-side apply would');
  addReportFlags(command);
  command.action(async (words: readonly string[], _own: unknown, self: Command) => {
    const flags = self.optsWithGlobals<PlanFlags>();
    const changes = changeOf(words, flags, console.read);
    const { reach, close } = await connect(flags, console.runtime, userAgent);
    try {
      const report = await planChange(reach, { changes, quotaResources: flags.acceleratorResources ?? 'all' });
      console.out(rendered(report, flags.output, planLines));
    } finally {
      close();
    }
  });
}

const userAgent = `kubectl-ome/${version}`;

function instanceOf(rest: readonly string[]): number | undefined {
  const [word, number, ...more] = rest;
  if (word === undefined) return undefined;
  if (word !== 'instance' || number === undefined || more.length > 0 || !/^(0|[1-9][0-9]{0,9})$/.test(number)) {
    throw new Problem(`"${rest.join(' ')}" is not understood: write instance and its number`);
  }
  return Number(number);
}

function addReportFlags(command: Command): void {
  command
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(formats).default('table'))
    .option('--ome-namespace <name>', 'namespace of the manager and its ConfigMap', 'ome')
    .addOption(
      new Option(
        '--accelerator-resources <names>',
        'resources under quota, comma-separated, as the manager was told; default: every pod',
      ).argParser(commaList),
    );
}

/** Those of kubectl. A flag that changes nothing here is accepted all the same. */
function addConnectionFlags(program: Command): void {
  program
    .option('--kubeconfig <file>', 'kubeconfig file')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--cluster <name>', 'cluster of the kubeconfig')
    .option('--user <name>', 'user of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace; default: that of the context')
    .option('-s, --server <url>', 'address of the API server')
    .option('--token <token>', 'bearer token')
    .option('--as <user>', 'user to impersonate')
    .option('--as-uid <uid>', 'UID to impersonate')
    .addOption(new Option('--as-group <group>', 'group to impersonate').argParser(collect))
    .option('--certificate-authority <file>', 'certificate authority of the server')
    .option('--client-certificate <file>', 'certificate to present')
    .option('--client-key <file>', 'key of that certificate')
    .option('--tls-server-name <name>', "name that the server's certificate must carry")
    .option('--insecure-skip-tls-verify', 'accept any certificate')
    .option('--request-timeout <duration>', 'limit of each request; 0: none', '0')
    .addOption(new Option('--cache-dir <folder>', 'accepted, no effect: nothing is cached').hideHelp())
    .addOption(new Option('--disable-compression', 'accepted, no effect: nothing is compressed').hideHelp());
}

/** A flag that may be given more than once. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function commaList(value: string): readonly string[] {
  const names = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new InvalidArgumentError('write the names of resources.');
  return names;
}
