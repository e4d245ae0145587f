/** The operator's settings as the ConfigMap has them. */
import { formatTime } from '@omenative/api';
import {
  asRecord,
  assemble,
  asTextMap,
  configMapName,
  configMapType,
  defaultConfigMap,
  describeRejection,
  loadFields,
  type OperatorSettings,
} from '@omenative/controllers/observe';
import { classify } from '@omenative/kube';
import { type Reach, refusal } from './look.js';
import type { Remark } from './problem.js';

export interface Settings {
  readonly settings: OperatorSettings;
  readonly remarks: readonly Remark[];
}

/**
 * Reads them. Without a ConfigMap that can be read the chart's values stand in, and a remark says so; a key that can't be
 * used counts as not set, where a running manager may have a last good value.
 */
export async function readSettings(reach: Reach): Promise<Settings> {
  const { client, omeNamespace } = reach;
  const where = `ConfigMap ${omeNamespace}/${configMapName}`;
  try {
    const found = await client.get(configMapType, { namespace: omeNamespace, name: configMapName });
    const loaded = loadFields(asTextMap(asRecord(found)['data']));
    const remarks = loaded.rejections.map((rejection): Remark => {
      return {
        code: 'ConfigKeyRejected',
        message: `${where}: ${describeRejection(rejection)}; it counts as not set here`,
      };
    });
    return { settings: assemble(loaded), remarks };
  } catch (error) {
    const as = classify(error);
    if (as !== 'notFound' && as !== 'notPermitted' && as !== 'forbidden') throw refusal(error);
    const why = as === 'notFound' ? 'does not exist' : 'may not be read';
    const message = `${where} ${why}: the chart's values are assumed; name the manager's namespace with --ome-namespace`;
    return {
      settings: assemble(loadFields(defaultConfigMap(omeNamespace).data)),
      remarks: [{ code: 'ConfigUnreadable', message }],
    };
  }
}

/** `collectedAt` of a report, from milliseconds since the epoch. */
export function timestamp(atMs: number): string {
  return formatTime(Math.floor(atMs / 1000));
}
