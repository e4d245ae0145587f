/** The settings in effect, kept across bad edits of the ConfigMap, and those who want to know when they change. */
import type { FieldValues } from './fields.js';
import { assemble, type ConfigMapData, isSameSettings, loadFields, type Rejection } from './load.js';
import type { OperatorSettings } from './settings.js';

/** The ConfigMap cannot be used at start, when there is no last good value to fall back to. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly rejections: readonly Rejection[];

  constructor(rejections: readonly Rejection[]) {
    super(`the configuration cannot be used:\n${rejections.map((r) => `  ${describeRejection(r)}`).join('\n')}`);
    this.rejections = rejections;
  }
}

/** What controllers need to know of configuration. */
export interface ConfigSource {
  /** The settings now. Read once a pass, so that a pass sees one state. */
  current(): OperatorSettings;
  /** Calls `listener` after each change; returns the way to stop it. */
  subscribe(listener: () => void): () => void;
}

export class OperatorConfig implements ConfigSource {
  #values: FieldValues;
  #settings: OperatorSettings;
  #rejections: readonly Rejection[] = [];
  readonly #listeners: Set<() => void> = new Set();

  /** @throws ConfigError naming every key that cannot be read, and the keys that must be set and are not. */
  constructor(data: ConfigMapData) {
    const loaded = loadFields(data);
    const rejections = [...loaded.rejections, ...missing(loaded.values, loaded.rejections)];
    if (rejections.length > 0) throw new ConfigError(rejections);
    this.#values = loaded.values;
    this.#settings = assemble(loaded);
  }

  current(): OperatorSettings {
    return this.#settings;
  }

  /** Keys whose value in the ConfigMap is not the one in effect. */
  get rejections(): readonly Rejection[] {
    return this.#rejections;
  }

  /**
   * Takes a new state of the ConfigMap in. Returns what was rejected now and was not by the state before, so that each
   * bad edit is reported once.
   */
  update(data: ConfigMapData): readonly Rejection[] {
    const loaded = loadFields(data, this.#values);
    const unset = missing(loaded.values, loaded.rejections);
    // A key that must be set keeps its last good value when someone removes it.
    const values: FieldValues = unset.length === 0 ? loaded.values : { ...loaded.values, ...required(this.#values) };
    const rejections = [...loaded.rejections, ...unset];
    const known = new Set(this.#rejections.map(describeRejection));
    const fresh = rejections.filter((rejection) => !known.has(describeRejection(rejection)));
    const settings = assemble({ values, rejections });
    const changed = !isSameSettings(settings, this.#settings);
    this.#values = values;
    this.#rejections = rejections;
    this.#settings = settings;
    if (changed) for (const listener of this.#listeners) listener();
    return fresh;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** `lifecycle.requeue = {"gate":"3s"}: needs operation too`. */
export function describeRejection(rejection: Rejection): string {
  return `${rejection.key} = ${rejection.value}: ${rejection.reason}`;
}

/** The encoding of status rows is chosen by the operator alone: a wrong guess would rewrite every replica. */
function missing(values: FieldValues, rejections: readonly Rejection[]): Rejection[] {
  const told = (key: string): boolean => rejections.some((r) => r.key === key || r.key === 'omenativeStatus');
  const needed: Rejection[] = [];
  const add = (name: string, reason: string): void => {
    const key = `omenativeStatus.${name}`;
    if (!told(key)) needed.push({ key, value: 'not set', reason });
  };
  if (values.instanceStatusEncoding === undefined) add('instanceStatusEncoding', 'must be DenseV1 or ColumnarV2');
  if (values.instanceStatusEncoding === 'ColumnarV2' && values.maxDecodedInstances === undefined) {
    add('maxDecodedInstances', 'is required when instanceStatusEncoding is ColumnarV2');
  }
  return needed;
}

function required(values: FieldValues): Pick<FieldValues, 'instanceStatusEncoding' | 'maxDecodedInstances'> {
  return {
    instanceStatusEncoding: values.instanceStatusEncoding,
    maxDecodedInstances: values.maxDecodedInstances,
  };
}
