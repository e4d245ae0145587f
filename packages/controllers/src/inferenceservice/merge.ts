/**
 * How an InferenceService's words go over a runtime's: maps by key, named lists by name, other lists whole, scalars by the
 * later word. The rules are a table, so that what happens to a field can be looked up.
 */
import { asText, isRecord, type JsonRecord } from '../shared/json.js';

type Rule =
  /** The later word alone. */
  | { readonly as: 'whole' }
  /** Member by member; a member without a rule of its own merges like JSON: objects by key, everything else whole. */
  | { readonly as: 'object'; readonly members: Readonly<Record<string, Rule>> }
  /** Items with the same `key` are one item; new ones come after those of the runtime. */
  | { readonly as: 'list'; readonly key: string; readonly item: Rule }
  /** Fields merge, but a probe has one handler: a new one replaces the old, of whatever type. */
  | { readonly as: 'probe' };

const whole: Rule = { as: 'whole' };
const object = (members: Readonly<Record<string, Rule>>): Rule => ({ as: 'object', members });
const list = (key: string, item: Rule): Rule => ({ as: 'list', key, item });
const json: Rule = object({});

const container: Rule = object({
  env: list('name', whole),
  ports: list('containerPort', json),
  volumeMounts: list('mountPath', whole),
  volumeDevices: list('devicePath', whole),
  readinessProbe: { as: 'probe' },
  livenessProbe: { as: 'probe' },
  startupProbe: { as: 'probe' },
  // A hook has one handler as well, and nothing beside it.
  lifecycle: object({ postStart: whole, preStop: whole }),
});

const podMembers: Readonly<Record<string, Rule>> = {
  containers: list('name', container),
  initContainers: list('name', container),
  volumes: list('name', whole),
  imagePullSecrets: list('name', whole),
  runner: container,
};

const component: Rule = object({
  ...podMembers,
  leader: object(podMembers),
  worker: object(podMembers),
  autoscaler: whole,
  autoscalerPolicyRef: whole,
  deploymentStrategy: whole,
});

/**
 * A component of an InferenceService over the same component of its runtime, or one layer of a pod over another. Null
 * counts as absent. Neither argument is changed.
 */
export function mergeComponent(base: JsonRecord, over: JsonRecord): JsonRecord {
  return mergeObject(component, base, over);
}

/** One container over another. */
export function mergeContainer(base: JsonRecord, over: JsonRecord): JsonRecord {
  return mergeObject(container, base, over);
}

function merge(rule: Rule, base: unknown, over: unknown): unknown {
  if (over === undefined || over === null) return base;
  if (base === undefined || base === null) return over;
  switch (rule.as) {
    case 'whole':
      return over;
    case 'object':
      return isRecord(base) && isRecord(over) ? mergeObject(rule, base, over) : over;
    case 'list':
      return Array.isArray(base) && Array.isArray(over) ? mergeList(rule.key, rule.item, base, over) : over;
    case 'probe':
      return isRecord(base) && isRecord(over) ? mergeProbe(base, over) : over;
  }
}

function mergeObject(rule: Rule, base: JsonRecord, over: JsonRecord): JsonRecord {
  const members = rule.as === 'object' ? rule.members : {};
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = merge(members[key] ?? json, base[key], value);
  for (const [key, value] of Object.entries(merged)) if (value === undefined || value === null) delete merged[key];
  return merged;
}

function mergeList(key: string, item: Rule, base: readonly unknown[], over: readonly unknown[]): readonly unknown[] {
  const merged = [...base];
  for (const value of over) {
    const at = merged.findIndex((held) => isSameItem(key, held, value));
    if (at < 0) merged.push(value);
    else merged[at] = merge(item, merged[at], value);
  }
  return merged;
}

function isSameItem(key: string, a: unknown, b: unknown): boolean {
  return isRecord(a) && isRecord(b) && a[key] !== undefined && a[key] === b[key] && protocol(a) === protocol(b);
}

/** A port may be open for TCP and for UDP. */
function protocol(item: JsonRecord): string {
  return item['containerPort'] === undefined ? '' : asText(item['protocol']) || 'TCP';
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function mergeProbe(base: JsonRecord, over: JsonRecord): JsonRecord {
  const handler = handlers.find((name) => isRecord(over[name]));
  const kept = Object.entries(base).filter(
    ([key]) => handler === undefined || key === handler || !handlers.includes(key),
  );
  return mergeObject(json, Object.fromEntries(kept), over);
}
