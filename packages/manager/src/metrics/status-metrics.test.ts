import { describe, expect, it } from '@jest/globals';
import type { StoredStatus } from '@omenative/controllers';
import { Registry } from 'prom-client';
import { StatusMetrics } from './status-metrics.js';

const stored: StoredStatus = {
  namespace: 'lab',
  name: 'chat-engine',
  component: 'engine',
  encoding: 'DenseV1',
  bytes: 372,
};

/** The samples of a registry, without help texts. */
async function samples(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('the metrics of statuses', () => {
  it('count writes by encoding and result, conversions and codec errors', async () => {
    const registry = new Registry();
    const metrics = new StatusMetrics(registry);
    metrics.statusWritten('DenseV1', 'attempt');
    metrics.statusWritten('ColumnarV2', 'attempt');
    metrics.statusWritten('ColumnarV2', 'committed');
    metrics.statusStored({ ...stored, encoding: 'ColumnarV2', convertedFrom: 'DenseV1' });
    metrics.codecFailed('cardinality_limit');
    expect(await samples(registry)).toEqual([
      'ome_omenative_ir_status_writes_total{encoding="dense_v1",result="attempt"} 1',
      'ome_omenative_ir_status_writes_total{encoding="columnar_v2",result="attempt"} 1',
      'ome_omenative_ir_status_writes_total{encoding="columnar_v2",result="committed"} 1',
      'ome_omenative_ir_status_conversions_total{from="dense_v1",to="columnar_v2"} 1',
      'ome_omenative_ir_status_codec_errors_total{reason="cardinality_limit"} 1',
      'ome_omenative_ir_status_bytes{namespace="lab",name="chat-engine",component="engine",encoding="columnar_v2"} 372',
    ]);
  });

  it('show the bytes of the last write of each replica, in one encoding, as long as it is there', async () => {
    const registry = new Registry();
    const metrics = new StatusMetrics(registry);
    const there = new Set(['lab/chat-engine', 'lab/chat-decoder']);
    metrics.forgetUnless((key) => there.has(key));
    metrics.statusStored(stored);
    metrics.statusStored({ ...stored, name: 'chat-decoder', component: 'decoder', bytes: 5 });
    metrics.statusStored({ ...stored, encoding: 'ColumnarV2', bytes: 300 });
    expect(await samples(registry)).toEqual([
      'ome_omenative_ir_status_bytes{namespace="lab",name="chat-engine",component="engine",encoding="columnar_v2"} 300',
      'ome_omenative_ir_status_bytes{namespace="lab",name="chat-decoder",component="decoder",encoding="dense_v1"} 5',
    ]);

    there.delete('lab/chat-engine');
    expect(await samples(registry)).toHaveLength(1);
    there.add('lab/chat-engine');
    expect(await samples(registry)).toHaveLength(1);
  });
});
