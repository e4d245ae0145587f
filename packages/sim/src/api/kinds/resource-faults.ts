/** The faults of what a container asks for and is limited to. */

import { asObject, asText, type JsonObject } from '../../base/json.js';
import { badRequest, type FieldError } from '../errors.js';
import { quantity } from './pod-resources.js';

const STANDARD: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** The broken rules of `resources`, which stands at `field`. */
export function resourceFaults(resources: JsonObject, field: string): readonly FieldError[] {
  const limits = asObject(resources['limits']);
  const requests = asObject(resources['requests']);
  const errors = [...amountFaults(limits, `${field}.limits`), ...amountFaults(requests, `${field}.requests`)];
  for (const [name, asked] of Object.entries(requests)) errors.push(...pairFaults(name, asked, limits[name], field));
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    errors.push({ field, type: 'Forbidden', detail: 'HugePages require cpu or memory' });
  }
  return errors;
}

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** True for resources of which no more is promised than there is: devices and huge pages. */
function isExact(name: string): boolean {
  return !STANDARD.has(name);
}

function amountFaults(amounts: JsonObject, field: string): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]): readonly FieldError[] => {
    const at = `${field}[${name}]`;
    const invalid = (value: unknown, detail: string): FieldError => ({ field: at, type: 'Invalid', value, detail });
    if (!STANDARD.has(name) && !isHugePages(name) && !name.includes('/')) {
      return [
        invalid(name, 'must be a standard resource type or fully qualified'),
        invalid(name, 'must be a standard resource for containers'),
      ];
    }
    if (quantity(amount) < 0) return [invalid(written(amount), 'must be greater than or equal to 0')];
    if (name.includes('/') && !Number.isInteger(quantity(amount)))
      return [invalid(written(amount), 'must be an integer')];
    return [];
  });
}

function pairFaults(name: string, asked: unknown, limit: unknown, field: string): readonly FieldError[] {
  if (limit === undefined) {
    if (!isExact(name)) return [];
    const detail = 'Limit must be set for non overcommitable resources';
    return [{ field: `${field}.limits`, type: 'Required', detail }];
  }
  const holds = isExact(name) ? quantity(asked) === quantity(limit) : quantity(asked) <= quantity(limit);
  if (holds) return [];
  const rule = isExact(name) ? 'must be equal to' : 'must be less than or equal to';
  const detail = `${rule} ${name} limit of ${written(limit)}`;
  return [{ field: `${field}.requests`, type: 'Invalid', value: written(asked), detail }];
}

function written(amount: unknown): string {
  return typeof amount === 'number' ? String(amount) : asText(amount);
}

/** Throws 400 for an amount that is no quantity: such a pod is not even understood. */
export function checkQuantities(resources: JsonObject): void {
  for (const amounts of [resources['limits'], resources['requests']]) {
    for (const amount of Object.values(asObject(amounts))) {
      if (/^[+-]?[0-9.]+([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$/.test(written(amount))) continue;
      const pattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
      throw badRequest(
        `Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '${pattern}'`,
      );
    }
  }
}
