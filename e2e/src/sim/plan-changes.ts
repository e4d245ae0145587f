/** Random changes to an InferenceService, of the kinds that people make, for plans to foretell. */
import type { Seeded } from './seeded.js';

type Json = Readonly<Record<string, unknown>>;

/** A merge patch, and what it is called. */
export interface DrawnChange {
  readonly what: string;
  readonly patch: Json;
}

/** What an InferenceService starts from. */
export interface Start {
  readonly replicas: number;
  /** Workers of a gang; absent: single-pod Instances. */
  readonly workers?: number;
}

export function drawStart(draw: Seeded): Start {
  const replicas = 1 + draw.below(4);
  return draw.below(4) === 0 ? { replicas: Math.min(replicas, 3), workers: 1 + draw.below(2) } : { replicas };
}

const maxReplicas = 5;

/** One kind of change at a time, or two at once. */
export function drawChange(draw: Seeded, start: Start): DrawnChange {
  const first = drawOne(draw, start);
  if (draw.below(3) !== 0) return first;
  const second = drawOne(draw, start);
  return { what: `${first.what}, ${second.what}`, patch: overlaid(first.patch, second.patch) };
}

function drawOne(draw: Seeded, start: Start): DrawnChange {
  const kinds = [
    image,
    image,
    image,
    environment,
    count,
    count,
    budget,
    partition,
    strategy,
    strategy,
    pause,
    resume,
    resume,
    minReady,
    note,
  ];
  return draw.pick(kinds)(draw, start);
}

function template(start: Start, container: Json): Json {
  const runner = { name: 'ome-container', ...container };
  const engine = start.workers === undefined ? { runner } : { leader: { runner }, worker: { runner } };
  return { spec: { engine } };
}

function image(draw: Seeded, start: Start): DrawnChange {
  const to = draw.pick(['v1', 'v2', 'v3', 'v4']);
  return { what: `image ${to}`, patch: template(start, { image: to }) };
}

function environment(draw: Seeded, start: Start): DrawnChange {
  const value = String(draw.below(4));
  return { what: `env LEVEL=${value}`, patch: template(start, { env: [{ name: 'LEVEL', value }] }) };
}

function count(draw: Seeded): DrawnChange {
  const replicas = 1 + draw.below(maxReplicas);
  return { what: `${replicas} replicas`, patch: { spec: { engine: { minReplicas: replicas, maxReplicas } } } };
}

function rolling(member: string, value: unknown): Json {
  return { spec: { engine: { lifecycle: { updateStrategy: { rollingUpdate: { [member]: value } } } } } };
}

function budget(draw: Seeded): DrawnChange {
  const member = draw.pick(['maxSurge', 'maxSurge', 'maxUnavailable']);
  const value = draw.pick([1, 1, 1, 2, 2, 3, '25%', '50%', '100%', 0]);
  return { what: `${member} ${value}`, patch: rolling(member, value) };
}

function strategy(draw: Seeded): DrawnChange {
  const type = draw.pick(['SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly']);
  return { what: type, patch: { spec: { engine: { lifecycle: { updateStrategy: { type } } } } } };
}

function partition(draw: Seeded): DrawnChange {
  const value = draw.pick([0, 0, 0, 1, 2]);
  return { what: `partition ${value}`, patch: rolling('partition', value) };
}

function annotated(key: string, value: string | null): Json {
  return { metadata: { annotations: { [key]: value } } };
}

function pause(draw: Seeded): DrawnChange {
  const mode = draw.pick(['true', 'freeze']);
  return { what: `pause ${mode}`, patch: annotated('ome.io/rollout-paused', mode) };
}

function resume(): DrawnChange {
  return { what: 'resume', patch: annotated('ome.io/rollout-paused', null) };
}

function minReady(draw: Seeded): DrawnChange {
  const seconds = draw.pick([0, 0, 5, 20]);
  return {
    what: `minReadySeconds ${seconds}`,
    patch: { spec: { engine: { lifecycle: { minReadySeconds: seconds } } } },
  };
}

function note(draw: Seeded): DrawnChange {
  return { what: 'a note', patch: annotated('example.com/note', String(draw.below(100))) };
}

function overlaid(first: Json, second: Json): Json {
  const result: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = result[key];
    result[key] = isObject(before) && isObject(value) ? overlaid(before, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
