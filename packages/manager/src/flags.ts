/** The command line: OME's flags by their names and defaults, and a few of our own. */
import { parseDurationMs } from '@omenative/controllers';
import { Command, InvalidArgumentError, Option } from 'commander';
import { defaultOptions, type ManagerOptions } from './options.js';

/** What a process needs beside what its manager does. */
export interface Flags {
  readonly options: ManagerOptions;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Requests a second, and how many may come at once; absent: no limit but the server's. */
  readonly rate?: { readonly qps: number; readonly burst: number };
  /** `host:port`; `0` turns it off. */
  readonly metricsAddress: string;
  readonly healthAddress: string;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Flags that were given and do nothing here, as they were written. */
  readonly ignored: readonly string[];
}

/** Accepted, so that a command line written for OME starts this manager; what they switch does not exist here. */
const ignoredFlags: readonly (readonly [name: string, takes: 'switch' | 'value', why: string])[] = [
  ['metrics-secure', 'switch', 'metrics are served in plain HTTP'],
  ['enable-http2', 'switch', 'metrics are served over HTTP/1.1'],
  ['webhook', 'switch', 'rules are checked by the CustomResourceDefinitions and by the controllers'],
  ['webhook-port', 'value', 'there is no webhook server'],
  ['config-cache-ttl', 'value', 'the ConfigMap is watched'],
  ['runtime-revision-retention', 'value', 'runtimes are not pinned'],
  ['runtime-revision-grace-period', 'value', 'runtimes are not pinned'],
  ['enable-multicluster', 'switch', 'one cluster is managed'],
  ['multicluster-role', 'value', 'one cluster is managed'],
  ['placement-control-plane-id', 'value', 'one cluster is managed'],
  ['allow-exec-credentials', 'switch', 'one cluster is managed'],
  ['exec-credential-allowed-commands', 'value', 'one cluster is managed'],
  ['serving-demand-download-priority', 'switch', 'models are not downloaded'],
  ['zap-encoder', 'value', 'log lines are JSON'],
  ['zap-devel', 'switch', 'log lines are JSON'],
  ['zap-stacktrace-level', 'value', 'log lines are JSON'],
  ['zap-time-encoding', 'value', 'log lines are JSON'],
];

interface Parsed {
  readonly metricsBindAddress: string;
  readonly healthProbeAddr: string;
  readonly leaderElect: boolean;
  readonly leaderElectionNamespace: string;
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly inferenceserviceMaxConcurrentReconciles: number;
  readonly inferencereplicaMaxConcurrentReconciles: number;
  readonly enableInferencereplicaController: boolean;
  readonly kubeApiQps?: number;
  readonly kubeApiBurst: number;
  readonly acceleratorResources?: readonly string[];
  readonly zapLogLevel: Flags['logLevel'];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly applyCrds: boolean;
}

/** A command line that can't be obeyed; the message is for the person who wrote it. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  /** What a process that prints the message exits with: 0 for `--help` and `--version`. */
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Reads the arguments after the program's name.
 *
 * @throws FlagError for anything that can't be obeyed, and for `--help` and `--version`, whose text is its message.
 */
export function parseFlags(args: readonly string[], version: string): Flags {
  const command = commandOf(version);
  let output = '';
  const write = (text: string): void => {
    output += text;
  };
  command.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    const exitCode = (error as { readonly exitCode?: number }).exitCode ?? 1;
    throw new FlagError(output.trimEnd() || String(error), exitCode);
  }
  return flagsOf(command.opts<Parsed>(), ignoredOf(command));
}

function commandOf(version: string): Command {
  const command = new Command('manager')
    .description('Runs InferenceServices and InferenceReplicas of ome.io/v1beta1 on a Kubernetes cluster.')
    .version(version)
    .allowExcessArguments(false);
  const add = (flags: string, what: string, parse: (value: string) => unknown, fallback?: string): void => {
    const option = new Option(flags, what).argParser(parse);
    command.addOption(fallback === undefined ? option : option.default(parse(fallback), fallback));
  };
  const toggle = (name: string, what: string, fallback: boolean): void => {
    command.addOption(new Option(`--${name} [value]`, what).preset('true').argParser(switchValue).default(fallback));
  };
  add('--kubeconfig <file>', 'kubeconfig file; default: in-cluster, else KUBECONFIG, else ~/.kube/config', asIs);
  add('--context <name>', 'context of the kubeconfig', asIs);
  toggle('apply-crds', 'apply the CustomResourceDefinitions and, when there is none, the default ConfigMap', false);
  add('--metrics-bind-address <address>', 'where metrics are served; 0: nowhere', asIs, ':8080');
  add('--health-probe-addr <address>', 'where /healthz and /readyz are served; 0: nowhere', asIs, ':8081');
  toggle('leader-elect', 'work only while holding the Lease', false);
  add('--leader-election-namespace <name>', 'namespace of the Lease and of the ConfigMap', asIs, 'ome');
  add('--leader-elect-lease-duration <duration>', 'wait before a silent holder loses the Lease', durationMs, '15s');
  add('--leader-elect-renew-deadline <duration>', 'time after which a holder gives up', durationMs, '10s');
  add('--leader-elect-retry-period <duration>', 'time between two tries', durationMs, '2s');
  add('--inferenceservice-max-concurrent-reconciles <n>', 'InferenceServices worked on at once', positive, '1');
  add('--inferencereplica-max-concurrent-reconciles <n>', 'InferenceReplicas worked on at once', positive, '1');
  toggle('enable-inferencereplica-controller', 'act on InferenceReplicas', true);
  add('--kube-api-qps <n>', 'requests a second; default: no limit but the server’s', decimal);
  add('--kube-api-burst <n>', 'requests at once, with --kube-api-qps', decimal, '0');
  add('--accelerator-resources <names>', 'resources under quota, comma-separated; default: every pod', commaList);
  add('--zap-log-level <level>', 'debug, info, warn or error', logLevel, 'info');
  for (const [name, takes, why] of ignoredFlags) {
    command.addOption(
      new Option(`--${name} ${takes === 'switch' ? '[value]' : '<value>'}`, `accepted, no effect: ${why}`).hideHelp(),
    );
  }
  return command;
}

function flagsOf(parsed: Parsed, ignored: readonly string[]): Flags {
  const { kubeApiQps: qps, kubeApiBurst: burst, kubeconfig, context } = parsed;
  const { acceleratorResources: quotaResources = [] } = parsed;
  if (qps !== undefined && qps > 0 && burst <= 0) {
    throw new FlagError('--kube-api-qps: burst is required to be greater than 0: set --kube-api-burst', 1);
  }
  return {
    options: {
      ...defaultOptions,
      namespace: parsed.leaderElectionNamespace,
      leaderElection: parsed.leaderElect
        ? {
            leaseDurationMs: parsed.leaderElectLeaseDuration,
            renewDeadlineMs: parsed.leaderElectRenewDeadline,
            retryPeriodMs: parsed.leaderElectRetryPeriod,
          }
        : 'off',
      inferenceReplicaController: parsed.enableInferencereplicaController ? 'enabled' : 'disabled',
      concurrency: {
        inferenceServices: parsed.inferenceserviceMaxConcurrentReconciles,
        inferenceReplicas: parsed.inferencereplicaMaxConcurrentReconciles,
      },
      ...(quotaResources.length === 0 ? {} : { quotaResources }),
      installation: parsed.applyCrds ? 'apply' : 'leave',
    },
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(qps === undefined || qps <= 0 ? {} : { rate: { qps, burst } }),
    metricsAddress: parsed.metricsBindAddress,
    healthAddress: parsed.healthProbeAddr,
    logLevel: parsed.zapLogLevel,
    ignored,
  };
}

/** `--webhook: rules are checked by …`, for each ignored flag that was given. */
function ignoredOf(command: Command): readonly string[] {
  return ignoredFlags.flatMap(([name, , why]) => {
    const key = name.replaceAll(/-(.)/g, (_all, letter: string) => letter.toUpperCase());
    return command.getOptionValueSource(key) === 'cli' ? [`--${name}: ${why}`] : [];
  });
}

function asIs(value: string): string {
  return value;
}

function switchValue(value: string): boolean {
  if (/^(true|t|1)$/i.test(value)) return true;
  if (/^(false|f|0)$/i.test(value)) return false;
  throw new InvalidArgumentError('write true or false.');
}

function durationMs(value: string): number {
  const ms = parseDurationMs(value);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('write a duration with a unit, such as 15s.');
  return ms;
}

function positive(value: string): number {
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('write a whole number above 0.');
  return count;
}

function decimal(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number < 0) throw new InvalidArgumentError('write a number.');
  return number;
}

function commaList(value: string): readonly string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Levels by name; numbers as zap takes them, where a larger one says more. */
function logLevel(value: string): Flags['logLevel'] {
  if (value === 'debug' || value === 'info' || value === 'warn' || value === 'error') return value;
  if (/^[1-9][0-9]*$/.test(value)) return 'debug';
  throw new InvalidArgumentError('write debug, info, warn or error.');
}
