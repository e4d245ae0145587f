/** A plan for people: a table of waves, then what it waits for. */
import { shortRevision } from '../report/names.js';
import { paragraph, ranges, table } from '../report/table.js';
import type { PlanReport, ReplicaPlan, TargetPlan } from './plan.js';
import type { WaitReport } from './waits.js';
import type { WaveReport } from './waves.js';

/** Rows of waves from which on waves that are alike are printed as one. */
const manyRows = 12;

/** `wide` prints every wave, however many there are. */
export function planLines(report: PlanReport, width: 'table' | 'wide'): readonly string[] {
  const blocks = [
    ...report.content.targets.flatMap((target) => targetBlocks(target, width)),
    report.warnings.map(({ code, message }) => `warning: ${code}: ${message}`),
  ];
  return blocks.filter((block) => block.length > 0).flatMap((block, at) => (at === 0 ? block : ['', ...block]));
}

function targetBlocks(target: TargetPlan, width: 'table' | 'wide'): readonly (readonly string[])[] {
  if (target.replicas.length === 0) return [[`${target.target}: no component of it is run here`]];
  return target.replicas.map((replica) => replicaLines(replica, width));
}

function replicaLines(plan: ReplicaPlan, width: 'table' | 'wide'): readonly string[] {
  const { problem, waves, stays } = plan;
  if (problem !== undefined) {
    const what = plan.effect === 'held' ? 'is left as it is' : 'nothing would be done for it any more';
    return [`irep/${plan.replica}: ${what}, ${problem.reason}`, ...paragraph(problem.message, 2)];
  }
  const rows = width === 'wide' || waves.length < manyRows ? waves.map((wave) => [wave]) : alike(waves);
  const lines = table(
    ['WAVE', 'INSTANCES', 'STEP', 'FROM', 'TO', 'SURGE', 'OUT', 'SERVING'],
    rows.map((group) => waveRow(group)),
  );
  const standing = plan.waits.filter(({ ends }) => ends === 'never');
  const passing = plan.waits.filter(({ ends }) => ends === 'byItself');
  return [
    headLine(plan),
    ...(plan.effect === 'nothing' ? [nothingLine(plan)] : []),
    ...(lines.length === 0 ? [] : ['', ...lines]),
    ...passing.flatMap((wait) => waitLines('on its way it waits, ', wait)),
    ...standing.flatMap((wait) => waitLines('then it waits, ', wait)),
    ...stays.flatMap(({ instances, revision, because }) => [
      `${instances.length === 1 ? 'Instance' : 'Instances'} ${ranges(instances)} on ${shortRevision(revision)} in the end:`,
      ...paragraph(because, 2),
    ]),
    ...endLines(plan),
  ];
}

function headLine({ replica, wanted, revision, pause }: ReplicaPlan): string {
  const count =
    wanted?.before === undefined || wanted.before === wanted.after
      ? `${wanted?.after ?? 0} wanted`
      : `${wanted.before} -> ${wanted.after} wanted`;
  const to = `${shortRevision(revision?.after ?? '')}${revision?.isNew === true ? ' (new)' : ''}`;
  const isSame = revision?.before === undefined || revision.before === revision.after;
  const paused = pause === undefined ? '' : `; paused (${pause}): no update and no new Instance is started`;
  return `irep/${replica}: ${count}; revision ${isSame ? to : `${shortRevision(revision.before ?? '')} -> ${to}`}${paused}`;
}

function nothingLine({ waves }: ReplicaPlan): string {
  return waves.length === 0
    ? 'changes nothing: no Instance is touched'
    : 'changes nothing: what is under way goes on as it would without it';
}

function endLines({ end, waits, effect }: ReplicaPlan): readonly string[] {
  switch (end) {
    case 'gone':
      return ['then the replica itself is removed'];
    case 'cut':
      return ['and so on: it was not rehearsed to its end'];
    case 'rest':
      return effect === 'steps' && waits.every((wait) => wait.ends === 'byItself')
        ? ['then nothing is left to do']
        : [];
  }
}

function waveRow(group: readonly WaveReport[]): readonly string[] {
  const [first] = group;
  if (first === undefined) return [];
  const last = group.at(-1) ?? first;
  const number = first.wave === 0 ? 'now' : String(first.wave);
  const each = group.length > 1 && first.instances.length > 1 ? `, ${first.instances.length} at a time` : '';
  const method = first.method === undefined ? '' : ` (${first.method})`;
  const ended = first.ends === 'done' || first.ends === 'open' ? '' : `, ${endWords[first.ends]}`;
  return [
    first === last ? number : `${number}-${last.wave}`,
    placesOf(group) + each,
    `${first.operation}${method}${ended}`,
    shortRevision(first.from ?? ''),
    shortRevision(first.to ?? ''),
    String(Math.max(...group.map((wave) => wave.surge))),
    String(Math.max(...group.map((wave) => wave.outOfService))),
    String(Math.min(...group.map((wave) => wave.fewestServing))),
  ];
}

const endWords = { failed: 'fails', replaced: 'is replaced', givenUp: 'is given up' } as const;

function placesOf(group: readonly WaveReport[]): string {
  const instances = ranges(group.flatMap((wave) => wave.instances));
  const replacements = group.flatMap((wave) => wave.replacements ?? []);
  return replacements.length === 0 ? instances : `${instances} -> ${ranges(replacements)}`;
}

/** Waves that follow each other and differ in their Instances only. */
function alike(waves: readonly WaveReport[]): readonly (readonly WaveReport[])[] {
  const groups: WaveReport[][] = [];
  for (const wave of waves) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    if (group !== undefined && before !== undefined && shapeOf(before) === shapeOf(wave)) group.push(wave);
    else groups.push([wave]);
  }
  return groups;
}

function shapeOf(wave: WaveReport): string {
  const { operation, method, from, to, ends, surge, outOfService } = wave;
  return JSON.stringify([
    wave.wave === 0,
    wave.instances.length,
    operation,
    method,
    from,
    to,
    ends,
    surge,
    outOfService,
  ]);
}

function waitLines(how: string, { reason, instances, text, ends, wakes }: WaitReport): readonly string[] {
  const who = instances.length === 0 ? '' : `Instance ${ranges(instances)}: `;
  return [
    `${how}${who}${reason}`,
    ...paragraph(text, 2),
    ...(ends === 'never' ? paragraph(`ends when: ${wakes.map((wake) => wake.text).join('; or ')}`, 2) : []),
  ];
}
