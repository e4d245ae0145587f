/** What ends a wait, for people and for programs. */
import { annotation, formatTime, type Sec } from '@omenative/api';
import type { Wake, Wakes } from '@omenative/engine';
import { until } from '../report/time-words.js';

export interface WakeReport {
  readonly on: 'time' | 'user' | Extract<Wake, { readonly on: unknown }>['on'];
  /** Of `time`: RFC 3339. */
  readonly at?: string;
  /** For people. */
  readonly text: string;
}

export function wakesOf(wakes: Wakes, now: Sec): readonly WakeReport[] {
  return wakes.map((wake) => wakeOf(wake, now));
}

function wakeOf(wake: Wake, now: Sec): WakeReport {
  if ('at' in wake)
    return { on: 'time', at: formatTime(wake.at), text: `${until(wake.at, now)} (${formatTime(wake.at)})` };
  if ('user' in wake) {
    return {
      on: 'user',
      text: wake.user === 'spec' ? 'you change the spec' : `you set ${annotation.releaseHeldRevision}`,
    };
  }
  return { on: wake.on, text: objectWake(wake.on, wake.key) };
}

function objectWake(on: Extract<Wake, { readonly on: unknown }>['on'], key: string): string {
  const ofWhom = key === '*' ? '' : ` of Instance ${key}`;
  switch (on) {
    case 'pod':
      return `a pod${ofWhom} changes`;
    case 'slice':
      return `the EndpointSlices that list ${key === '*' ? 'its pods' : `Instance ${key}`} change`;
    case 'service':
      return `Service ${key} changes`;
    case 'revision':
      return `ControllerRevision ${key} changes`;
    case 'floor':
      return 'the manager sees its own last write';
    case 'config':
      return "the operator's ConfigMap changes";
  }
}
