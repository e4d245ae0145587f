/** The faults of a pod's spec that people make in templates, in the words of the API server. */

import { asList, asObject, asText, isObject, type JsonObject } from '../../base/json.js';
import type { FieldError } from '../errors.js';
import { labelFault, labelFaults } from '../names.js';
import { resourceFaults } from './resource-faults.js';

/** The broken rules of a pod's spec, whether it is created or changed. */
export function specFaults(spec: JsonObject): readonly FieldError[] {
  const taken = new Set<string>();
  const errors = [
    ...volumeFaults(asList(spec['volumes'])),
    ...containersFaults(asList(spec['containers']), 'spec.containers', spec, taken),
    ...containersFaults(asList(spec['initContainers']), 'spec.initContainers', spec, taken),
    ...labelFaults(spec['nodeSelector'], 'spec.nodeSelector'),
    ...tolerationFaults(asList(spec['tolerations'])),
  ];
  if (asList(spec['containers']).length === 0) errors.push({ field: 'spec.containers', type: 'Required', detail: '' });
  errors.push(...choiceFaults('spec.restartPolicy', spec['restartPolicy'], ['Always', 'OnFailure', 'Never']));
  const host = asText(spec['hostname']);
  const hostFault = host === '' ? undefined : labelFault(host);
  if (hostFault !== undefined) errors.push(invalid('spec.hostname', host, hostFault));
  return errors;
}

/** The faults of the images of containers, whose list stands at `field`. */
export function imageFaults(containers: readonly unknown[], field: string): readonly FieldError[] {
  return containers.flatMap((one, i) => imageFault(asObject(one), `${field}[${i}].image`));
}

function imageFault(container: JsonObject, field: string): readonly FieldError[] {
  const image = asText(container['image']);
  if (image === '') return [required(field)];
  return image === image.trim() ? [] : [invalid(field, image, 'must not have leading or trailing whitespace')];
}

function containersFaults(
  containers: readonly unknown[],
  field: string,
  spec: JsonObject,
  taken: Set<string>,
): readonly FieldError[] {
  const volumes = new Set(asList(spec['volumes']).map((volume) => asObject(volume)['name']));
  const errors: FieldError[] = [];
  containers.forEach((one, i) => {
    const container = asObject(one);
    const at = `${field}[${i}]`;
    errors.push(...nameFaults(container, at, taken));
    errors.push(...imageFault(container, `${at}.image`));
    errors.push(...portFaults(asList(container['ports']), at));
    errors.push(...envFaults(asList(container['env']), at));
    errors.push(...mountFaults(asList(container['volumeMounts']), at, volumes));
    const policies = ['Always', 'IfNotPresent', 'Never'];
    errors.push(...choiceFaults(`${at}.imagePullPolicy`, container['imagePullPolicy'], policies));
    errors.push(...resourceFaults(asObject(container['resources']), `${at}.resources`));
    const mayHaveProbes = field === 'spec.containers' || container['restartPolicy'] === 'Always';
    errors.push(...probeFaults(container, at, mayHaveProbes));
    errors.push(...sleepFaults(container, at, spec['terminationGracePeriodSeconds']));
  });
  return errors;
}

function nameFaults(container: JsonObject, at: string, taken: Set<string>): readonly FieldError[] {
  const name = asText(container['name']);
  const field = `${at}.name`;
  if (name === '') return [required(field)];
  const fault = labelFault(name);
  if (fault !== undefined) return [invalid(field, name, fault)];
  if (taken.has(name)) return [{ field, type: 'Duplicate', value: name, detail: '' }];
  taken.add(name);
  return [];
}

function portFaults(ports: readonly unknown[], at: string): readonly FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((one, i): readonly FieldError[] => {
    const { name, containerPort } = asObject(one);
    const errors: FieldError[] = [];
    const text = asText(name);
    if (text.length > 15) errors.push(invalid(`${at}.ports[${i}].name`, text, 'must be no more than 15 characters'));
    else if (!/^[-a-z0-9]*$/.test(text)) {
      const detail = 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)';
      errors.push(invalid(`${at}.ports[${i}].name`, text, detail));
    } else if (names.has(text)) {
      errors.push({ field: `${at}.ports[${i}].name`, type: 'Duplicate', value: text, detail: '' });
    } else if (text !== '') names.add(text);
    const field = `${at}.ports[${i}].containerPort`;
    if (containerPort === undefined || containerPort === 0) errors.push(required(field));
    else if (!isPort(containerPort)) errors.push(invalid(field, containerPort, PORT_TEXT));
    return errors;
  });
}

const PORT_TEXT = 'must be between 1 and 65535, inclusive';

function isPort(value: unknown): boolean {
  return typeof value === 'number' && value >= 1 && value <= 65_535;
}

function envFaults(variables: readonly unknown[], at: string): readonly FieldError[] {
  return variables.flatMap((one, i): readonly FieldError[] => {
    const { name, value, valueFrom } = asObject(one);
    const errors: FieldError[] = [];
    const field = `${at}.env[${i}].name`;
    if (asText(name) === '') errors.push(required(field));
    else if (!/^[ -<>-~]+$/.test(asText(name))) {
      const detail = "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.push(invalid(field, name, detail));
    }
    if (asText(value) !== '' && isObject(valueFrom)) {
      errors.push(invalid(`${at}.env[${i}].valueFrom`, '', 'may not be specified when `value` is not empty'));
    }
    return errors;
  });
}

function mountFaults(mounts: readonly unknown[], at: string, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((one, i): readonly FieldError[] => {
    const { name, mountPath } = asObject(one);
    const errors: FieldError[] = [];
    const field = `${at}.volumeMounts[${i}]`;
    if (!volumes.has(name)) errors.push({ field: `${field}.name`, type: 'NotFound', value: name, detail: '' });
    const path = asText(mountPath);
    if (path === '') errors.push(required(`${field}.mountPath`));
    else if (paths.has(path)) errors.push(invalid(`${field}.mountPath`, path, 'must be unique'));
    paths.add(path);
    return errors;
  });
}

function volumeFaults(volumes: readonly unknown[]): readonly FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((one, i): readonly FieldError[] => {
    const name = asText(asObject(one)['name']);
    if (names.has(name)) return [{ field: `spec.volumes[${i}].name`, type: 'Duplicate', value: name, detail: '' }];
    names.add(name);
    return [];
  });
}

function tolerationFaults(tolerations: readonly unknown[]): readonly FieldError[] {
  return tolerations.flatMap((one, i): readonly FieldError[] => {
    const { operator, value } = asObject(one);
    if (operator !== 'Exists' || asText(value) === '') return [];
    return [invalid(`spec.tolerations[${i}].operator`, value, "value must be empty when `operator` is 'Exists'")];
  });
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function probeFaults(container: JsonObject, at: string, allowed: boolean): readonly FieldError[] {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((kind): readonly FieldError[] => {
    const probe = container[kind];
    const field = `${at}.${kind}`;
    if (!isObject(probe)) return [];
    if (!allowed) {
      return [{ field, type: 'Forbidden', detail: 'may not be set for init containers without restartPolicy=Always' }];
    }
    const [handler, ...more] = HANDLERS.filter((key) => isObject(probe[key]));
    if (handler === undefined) return [{ field, type: 'Required', detail: 'must specify a handler type' }];
    const errors: FieldError[] = more.map((key) => {
      return { field: `${field}.${key}`, type: 'Forbidden', detail: 'may not specify more than 1 handler type' };
    });
    const { port } = asObject(probe[handler]);
    if (handler !== 'exec' && typeof port === 'number' && !isPort(port)) {
      errors.push(invalid(`${field}.${handler}.port`, port, PORT_TEXT));
    }
    const times = probe['successThreshold'];
    if (kind !== 'readinessProbe' && times !== undefined && times !== 1) {
      errors.push(invalid(`${field}.successThreshold`, times, 'must be 1'));
    }
    return errors;
  });
}

function sleepFaults(container: JsonObject, at: string, grace: unknown): readonly FieldError[] {
  const { seconds } = asObject(asObject(asObject(container['lifecycle'])['preStop'])['sleep']);
  if (typeof seconds !== 'number' || typeof grace !== 'number' || (seconds >= 0 && seconds <= grace)) return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [invalid(`${at}.lifecycle.preStop.sleep`, seconds, detail)];
}

function choiceFaults(field: string, value: unknown, allowed: readonly string[]): readonly FieldError[] {
  if (allowed.includes(asText(value))) return [];
  const detail = `supported values: ${allowed.map((one) => JSON.stringify(one)).join(', ')}`;
  return [{ field, type: 'Unsupported', value, detail }];
}

function required(field: string): FieldError {
  return { field, type: 'Required', detail: '' };
}

function invalid(field: string, value: unknown, detail: string): FieldError {
  return { field, type: 'Invalid', value, detail };
}
