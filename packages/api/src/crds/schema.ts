/**
 * The structural schema of a custom resource as plain data, and the few builders the kinds are written with. These objects
 * are the one source: the CRDs, the TypeScript types, defaulting and validation are all read from them.
 */

/** Name of the TypeScript type that `tools/generate.mjs` writes for a schema. A symbol, so that no serializer sees it. */
export const typeName: unique symbol = Symbol('typeName');

/** One `x-kubernetes-validations` entry: a CEL expression over `self` (and `oldSelf`, which makes it a transition rule). */
export interface ValidationRule {
  readonly rule: string;
  /** What is wrong and what to write instead; for people. */
  readonly message?: string;
  /** CEL expression that gives the message, when it must quote values. */
  readonly messageExpression?: string;
  /** Makes `oldSelf` an optional, so that the rule also runs at create. */
  readonly optionalOldSelf?: boolean;
}

/** The part of OpenAPI v3 that Kubernetes calls structural, as far as our kinds use it. */
export interface StructuralSchema {
  readonly [typeName]?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly format?: 'int32' | 'int64' | 'date-time';
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly anyOf?: readonly { readonly type: 'integer' | 'string' }[];
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** Fields of an object, by name. */
export type Properties = Readonly<Record<string, StructuralSchema>>;
type TextLimits = Pick<StructuralSchema, 'enum' | 'pattern' | 'minLength' | 'maxLength' | 'default'>;
type NumberLimits = Pick<StructuralSchema, 'minimum' | 'maximum' | 'default'>;
type ListLimits = Pick<StructuralSchema, 'minItems' | 'maxItems'>;

/** An object with these fields and no others; `required` names the ones that must be there. */
export function object<P extends Properties>(
  properties: P,
  required: readonly (keyof P & string)[] = [],
): StructuralSchema {
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties };
}

/** An object whose named fields are checked and whose other fields are kept as they are. */
export function openObject<P extends Properties>(
  properties: P,
  required: readonly (keyof P & string)[] = [],
): StructuralSchema {
  return { ...object(properties, required), 'x-kubernetes-preserve-unknown-fields': true };
}

/** An object that is stored as written and not looked into. */
export function preserved(): StructuralSchema {
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
}

export function str(limits: TextLimits = {}): StructuralSchema {
  return { type: 'string', ...limits };
}

export function oneOf(...values: readonly string[]): StructuralSchema {
  return { type: 'string', enum: values };
}

export function bool(limits: Pick<StructuralSchema, 'default'> = {}): StructuralSchema {
  return { type: 'boolean', ...limits };
}

export function int32(limits: NumberLimits = {}): StructuralSchema {
  return { type: 'integer', format: 'int32', ...limits };
}

export function int64(limits: NumberLimits = {}): StructuralSchema {
  return { type: 'integer', format: 'int64', ...limits };
}

/** An RFC 3339 time. */
export function time(): StructuralSchema {
  return { type: 'string', format: 'date-time' };
}

/** A Go duration such as `30s` or `1h30m`. */
export function duration(): StructuralSchema {
  return withRules(
    str({ maxLength: 64 }),
    rule(
      "self.matches('^(0|([0-9]+([.][0-9]*)?(ns|us|ms|s|m|h))+)$')",
      'must be a duration with a unit, such as 30s, 10m or 1h30m',
    ),
  );
}

/** A count, or a percentage such as `25%`. */
export function intOrString(): StructuralSchema {
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
}

/** A Kubernetes quantity: `2`, `"500m"`, `"80Gi"`. */
export function quantity(limits: Pick<StructuralSchema, 'default'> = {}): StructuralSchema {
  const number = String.raw`(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`;
  return {
    ...intOrString(),
    pattern: String.raw`^(\+|-)?${number}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?${number}))?$`,
    ...limits,
  };
}

/** A list that is replaced whole. */
export function list(items: StructuralSchema, limits: ListLimits = {}): StructuralSchema {
  return { type: 'array', 'x-kubernetes-list-type': 'atomic', ...limits, items };
}

/** A list of distinct values. */
export function set(items: StructuralSchema, limits: ListLimits = {}): StructuralSchema {
  return { type: 'array', 'x-kubernetes-list-type': 'set', ...limits, items };
}

/** A list whose items are told apart by `keys`, so that two writers may own different items. */
export function listMap(items: StructuralSchema, keys: readonly string[], limits: ListLimits = {}): StructuralSchema {
  return {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...limits,
    items,
  };
}

/** A map from free keys to `values`. */
export function mapOf(values: StructuralSchema): StructuralSchema {
  return { type: 'object', additionalProperties: values };
}

/** A map that is replaced whole. */
export function atomicMapOf(values: StructuralSchema): StructuralSchema {
  return { ...mapOf(values), 'x-kubernetes-map-type': 'atomic' };
}

/** The same schema with a description: what `kubectl explain` and an editor show for the field. */
export function about(description: string, schema: StructuralSchema): StructuralSchema {
  return { ...schema, description };
}

/** The same schema, for which the generated types use `name`. */
export function named(name: string, schema: StructuralSchema): StructuralSchema {
  return { ...schema, [typeName]: name };
}

/** The same schema with more validation rules. */
export function withRules(schema: StructuralSchema, ...rules: readonly ValidationRule[]): StructuralSchema {
  return {
    ...schema,
    'x-kubernetes-validations': [...(schema['x-kubernetes-validations'] ?? []), ...rules],
  };
}

/** The same schema without its validation rules: for a copy of something that was judged when it was written. */
export function withoutRules(schema: StructuralSchema): StructuralSchema {
  const { 'x-kubernetes-validations': _, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, withoutRules(inner)])),
    }),
    ...(items && { items: withoutRules(items) }),
    ...(additionalProperties && { additionalProperties: withoutRules(additionalProperties) }),
  };
}

/** A rule with a fixed message. */
export function rule(expression: string, message: string): ValidationRule {
  return { rule: expression, message };
}
