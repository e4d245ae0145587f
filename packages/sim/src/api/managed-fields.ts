/** Which manager set which field of an object. */

import type { KubeObject } from '../base/object.js';
import type { Call } from './call.js';

/** The object with its managedFields brought up to date by a write that is not an apply. */
export function recordFields(_call: Call, next: KubeObject, _old: KubeObject | undefined): KubeObject {
  return next;
}
