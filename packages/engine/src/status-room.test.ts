import { describe, expect, it } from '@jest/globals';
import { encodeStatus, type InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import { statusLimitBytes } from './status-room.js';
import { persisted } from './testing/read.js';
import { creatingRow } from './testing/rows.js';
import { chartConfig, world } from './testing/world.js';

/** A create that is all the API server ever sees of the batch size: none. */
const unbatched = { ...chartConfig, scaleUpPodBatch: 100_000 };
const columns = { encoding: 'ColumnarV2', maxDecodedInstances: 20_000 } as const;
const list = { encoding: 'DenseV1', maxDecodedInstances: 20_000 } as const;

describe('the room of a status', () => {
  it.each([
    ['as columns', columns],
    ['as a list', list],
  ])('bounds the operations that a create of 10,000 Instances has open at once, %s', (_, statusEncoding) => {
    const after = persisted({ ...world({ spec: { replicas: 10_000 }, config: unbatched }), statusEncoding });
    const { bytes } = encodeStatus(after.status, statusEncoding);
    expect(bytes).toBeLessThan(statusLimitBytes * 1.1);
    expect(bytes).toBeGreaterThan(statusLimitBytes * 0.8);
  });

  it('says what waits and for what', () => {
    const { holds } = plan({ ...world({ spec: { replicas: 10_000 }, config: unbatched }), statusEncoding: list });
    expect(holds.filter((hold) => hold.is === 'StatusBytes')).toMatchObject([
      { text: expect.stringMatching(/has no room for more operations/), wake: [{ on: 'pod', key: '*' }] },
    ]);
  });

  it('is not asked for where few Instances are', () => {
    const rows: readonly InstanceRow[] = Array.from({ length: 20 }, (_, index) => creatingRow(index));
    const { holds } = plan(world({ spec: { replicas: 400 }, config: unbatched, rows }));
    expect(holds.filter((hold) => hold.is === 'StatusBytes')).toEqual([]);
  });
});
