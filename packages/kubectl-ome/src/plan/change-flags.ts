/** From the words of `kubectl ome plan` to changes. */
import { asRecord, asText, isRecord, type JsonRecord } from '@omenative/controllers/observe';
import type { JsonPatchOperation, Patch } from '@omenative/kube';
import { parse, parseAllDocuments } from 'yaml';
import { Problem, type Remark } from '../cluster/problem.js';
import { targetOf } from '../cluster/target.js';
import { type Change, targetOfManifest } from './change.js';

export interface ChangeFlags {
  readonly filename?: string;
  readonly patch?: string;
  readonly type: 'merge' | 'json' | 'strategic';
  readonly serverSide?: boolean;
  readonly fieldManager: string;
  readonly forceConflicts?: boolean;
}

export interface Changes {
  readonly changes: readonly Change[];
  readonly remarks: readonly Remark[];
}

/** @throws Problem when the words say no change, or two. */
export function changeOf(words: readonly string[], flags: ChangeFlags, read: (path: string) => string): Changes {
  const { filename, patch } = flags;
  if (filename !== undefined) {
    if (patch !== undefined || words.length > 0) {
      throw new Problem('-f says which objects change and how: leave out the target and --patch');
    }
    return manifestsOf(filename, flags, read);
  }
  if (patch === undefined) throw new Problem('say what changes: -f FILE, or isvc/NAME --patch PATCH');
  if (words.length === 0) throw new Problem('say what the patch is for: isvc/NAME or irep/NAME');
  const { target, rest } = targetOf(words);
  if (rest.length > 0) throw new Problem(`"${rest.join(' ')}" is not understood: one object is patched`);
  return { changes: [{ as: 'patch', target, patch: patchOf(patch, flags.type) }], remarks: [] };
}

function patchOf(text: string, kind: ChangeFlags['type']): Patch {
  const body = parsed('--patch', () => parse(text) as unknown);
  if (kind === 'json') {
    if (!Array.isArray(body)) throw new Problem('--patch of --type json is a list of operations');
    return { kind, body: body as readonly JsonPatchOperation[] };
  }
  if (!isRecord(body)) throw new Problem(`--patch of --type ${kind} is an object`);
  return { kind, body };
}

function manifestsOf(filename: string, flags: ChangeFlags, read: (path: string) => string): Changes {
  const objects = parsed(filename, () =>
    parseAllDocuments(read(filename)).flatMap((document): JsonRecord[] => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return itemsOf(document.toJS());
    }),
  );
  const changes: Change[] = [];
  const remarks: Remark[] = [];
  for (const object of objects) {
    const target = targetOfManifest(object);
    if (target === undefined) {
      const what = `${asText(object['kind']) || 'an object'} ${asText(asRecord(object['metadata'])['name'])}`;
      remarks.push({
        code: 'DocumentSkipped',
        message: `${what} in ${filename} is not an InferenceService or InferenceReplica`,
      });
      continue;
    }
    const namespace = asText(asRecord(object['metadata'])['namespace']);
    changes.push({
      as: 'apply',
      target,
      ...(namespace === '' ? {} : { namespace }),
      object,
      by: byOf(flags),
    });
  }
  if (changes.length === 0) throw new Problem(`${filename} holds no InferenceService and no InferenceReplica`);
  return { changes, remarks };
}

function byOf({
  serverSide,
  fieldManager,
  forceConflicts,
}: ChangeFlags): 'client' | { fieldManager: string; force: 'takeOver' | 'yield' } {
  if (serverSide !== true) return 'client';
  return { fieldManager, force: forceConflicts === true ? 'takeOver' : 'yield' };
}

/** The objects of a document: itself, the items of a List, or none for an empty one. */
function itemsOf(document: unknown): JsonRecord[] {
  if (!isRecord(document)) return [];
  return document['kind'] === 'List' && Array.isArray(document['items'])
    ? document['items'].flatMap(itemsOf)
    : [document];
}

function parsed<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Problem(`${what} can't be read: ${error instanceof Error ? error.message : String(error)}`, 1, {
      cause: error,
    });
  }
}
