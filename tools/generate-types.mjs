// Turns the structural schemas of the CRDs into TypeScript interfaces, one for each named object, all of them read-only.

const handWritten = ['IntOrString', 'ObjectMeta', 'PreservedObject', 'Quantity', 'Time'];

/** The text of a module that declares a type for each kind and for everything inside it. */
export function typesOf(crds, typeName) {
  const declarations = new Map();
  const shapes = new Map();

  /** Declares `name` once; the same name for another shape is a mistake in the schemas. */
  function declare(name, schema, declaration) {
    const shape = shapeOf(schema);
    if (shapes.has(name)) {
      if (shapes.get(name) !== shape) throw new Error(`two different schemas are named ${name}`);
      return name;
    }
    shapes.set(name, shape);
    declarations.set(name, ''); // keeps the place: an outer type stands above the ones it names
    declarations.set(name, declaration());
    return name;
  }

  /** The type of a schema; objects without a name of their own are called `fallback`. */
  function typeOf(schema, fallback) {
    const type = schema[typeName] ? declareNamed(schema) : inlineType(schema, fallback);
    return schema.nullable ? `${type} | null` : type;
  }

  function declareNamed(schema) {
    const name = schema[typeName];
    return schema.properties
      ? declareInterface(name, schema)
      : declare(name, schema, () => `export type ${name} = ${inlineType(schema, name)};`);
  }

  function inlineType(schema, fallback) {
    if (schema['x-kubernetes-int-or-string']) return schema.pattern ? 'Quantity' : 'IntOrString';
    if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ');
    switch (schema.type) {
      case 'string':
        return schema.format === 'date-time' ? 'Time' : 'string';
      case 'integer':
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'array': {
        const item = typeOf(schema.items, `${fallback}Item`);
        return `readonly ${item.includes(' ') ? `(${item})` : item}[]`;
      }
      case 'object':
        if (schema.additionalProperties) {
          return `Readonly<Record<string, ${typeOf(schema.additionalProperties, `${fallback}Value`)}>>`;
        }
        if (Object.keys(schema.properties ?? {}).length > 0) return declareInterface(fallback, schema);
        return schema['x-kubernetes-preserve-unknown-fields'] ? 'PreservedObject' : 'Readonly<Record<string, never>>';
      default:
        throw new Error(`no type for ${JSON.stringify(schema)}`);
    }
  }

  function declareInterface(name, schema) {
    return declare(name, schema, () => {
      const lines = Object.entries(schema.properties).flatMap(([key, value]) => {
        const optional = schema.required?.includes(key) ? '' : '?';
        const type = typeOf(value, name + key[0].toUpperCase() + key.slice(1));
        return [...comment(value.description, '  '), `  readonly ${key}${optional}: ${type};`];
      });
      if (schema['x-kubernetes-preserve-unknown-fields']) lines.push('  readonly [field: string]: unknown;');
      return [`export interface ${name} {`, ...lines, '}'].join('\n');
    });
  }

  const kinds = crds.map((crd) => {
    const { kind } = crd.spec.names;
    const schema = crd.spec.versions[0].schema.openAPIV3Schema;
    const { spec, status } = schema.properties;
    declarations.set(
      kind,
      [
        ...comment(schema.description, ''),
        `export interface ${kind} {`,
        `  readonly apiVersion: '${crd.spec.group}/${crd.spec.versions[0].name}';`,
        `  readonly kind: '${kind}';`,
        '  readonly metadata: ObjectMeta;',
        `  readonly spec: ${spec[typeName]};`,
        `  readonly status?: ${status[typeName]};`,
        '}',
      ].join('\n'),
    );
    typeOf(spec, `${kind}Spec`);
    typeOf(status, `${kind}Status`);
    return kind;
  });

  const parts = [
    `import type { ${handWritten.join(', ')} } from '../crds/object-meta.js';`,
    ['/** The kinds, by name. */', 'export interface Kinds {', ...kinds.map((k) => `  readonly ${k}: ${k};`), '}'].join(
      '\n',
    ),
    '/** Name of one of our kinds. */\nexport type Kind = keyof Kinds;',
    ...declarations.values(),
  ];
  return `${parts.join('\n\n')}\n`;
}

function comment(description, indent) {
  return description ? [`${indent}/** ${description} */`] : [];
}

/** What a type is made of: the schema without the parts that no type can tell. */
function shapeOf(schema) {
  return JSON.stringify(schema, (key, value) =>
    key === 'description' || key === 'x-kubernetes-validations' || key === 'default' ? undefined : value,
  );
}
