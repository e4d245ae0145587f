/** What the plugin does, for suites and for tools that have a connection of their own. */

export { type Console, run } from './cli/program.js';
export type { Look, Reach } from './cluster/look.js';
export { lookAround } from './cluster/look.js';
export { Problem, type Remark } from './cluster/problem.js';
export type { Target } from './cluster/target.js';
export { type ExplainOptions, type ExplainReport, type Explanation, explain } from './explain/explain.js';
export type { Change } from './plan/change.js';
export type { Changes } from './plan/change-flags.js';
export { type PlanContent, type PlanOptions, type PlanReport, planChange } from './plan/plan.js';
export { type Cost, Gauge, type Moment } from './rehearsal/gauge.js';
export { type Rehearsal, rehearse } from './rehearsal/rehearse.js';
export { type Step, StepRecorder } from './rehearsal/steps.js';
export type { Report } from './report/report.js';
