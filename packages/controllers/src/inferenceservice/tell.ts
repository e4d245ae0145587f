/** The Events of a pass: what stands in the way of a service or a user, once for each version of it that says so. */
import { shortHash } from '@omenative/api';
import type { EventRecord } from '@omenative/kube';
import type { ActReport } from './act.js';
import type { ServicePlan, ServiceWorld } from './render.js';

type Told = Omit<EventRecord, 'regarding'>;

export function eventsOf(world: ServiceWorld, plan: ServicePlan, report: ActReport): readonly Told[] {
  const told = new Map<string, Told>();
  const tell = (type: Told['type'], reason: string, message: string): void => {
    if (told.has(message)) return;
    // The same trouble under the same version is the same Event, however many components and passes meet it.
    const episode = `${world.service.generation}/${shortHash(message)}`;
    told.set(message, { type, reason, message, episode });
  };
  const { runtime, model } = plan;
  const isOurs = plan.components.some((component) => component.as !== 'notManaged');
  if (runtime.found === 'problem' && isOurs) tell('Warning', runtime.reason, runtime.message);
  if (model.found === 'problem' && isOurs) tell('Warning', 'ModelReconcileError', model.message);
  if (model.found === 'model' && model.waiting !== undefined) tell('Normal', 'ModelNotReady', model.waiting);
  for (const component of plan.components) {
    // A replica that is on its way out, and a model that is on its way in, are no trouble.
    if (component.as !== 'held' || component.reason === 'ReplicaTerminating' || component.reason === 'ModelNotReady')
      continue;
    tell('Warning', component.reason, component.message);
  }
  for (const problem of report.failed.values()) tell('Warning', problem.reason, problem.message);
  if (report.entryFailed !== undefined) tell('Warning', report.entryFailed.reason, report.entryFailed.message);
  for (const message of report.countResets) tell('Normal', 'ReplicaCountReset', message);
  return [...told.values()];
}
