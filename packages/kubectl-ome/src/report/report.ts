/** The frame of every report: the same members in the same order, whatever is in it. */
import type { Remark } from '../cluster/problem.js';
import { timestamp } from '../cluster/settings.js';

/** Of all reports. A change that a reader could trip over gets another version. */
export const reportVersion = 'cli.ome.io/v1alpha1';

export interface Report<Kind extends string, Content> {
  readonly apiVersion: typeof reportVersion;
  readonly kind: Kind;
  readonly metadata: { readonly namespace: string; readonly name: string };
  /** RFC 3339. */
  readonly collectedAt: string;
  /** Resources that were read. */
  readonly sources: readonly string[];
  readonly content: Content;
  readonly warnings: readonly Remark[];
}

export interface ReportInit<Kind extends string, Content> {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly atMs: number;
  readonly sources: readonly string[];
  readonly content: Content;
  readonly warnings: readonly Remark[];
}

export function reportOf<Kind extends string, Content>(init: ReportInit<Kind, Content>): Report<Kind, Content> {
  const { kind, namespace, name, atMs, sources, content, warnings } = init;
  return {
    apiVersion: reportVersion,
    kind,
    metadata: { namespace, name },
    collectedAt: timestamp(atMs),
    sources,
    content,
    warnings,
  };
}
