import { describe, expect, it } from '@jest/globals';
import type { InPlaceMarker } from '@omenative/engine';
import fc from 'fast-check';
import { inPlaceAnnotation, inPlaceMarkerOf } from './in-place-marker.js';

describe('the record of an update in place', () => {
  it('reads as it was written', () => {
    const name = fc.constantFrom('main', 'proxy', 'side-car');
    const marker: fc.Arbitrary<InPlaceMarker> = fc.record({
      targetImages: fc.dictionary(name, fc.string()),
      restartCounts: fc.dictionary(name, fc.nat()),
    });
    fc.assert(
      fc.property(marker, (written) => {
        expect(inPlaceMarkerOf(inPlaceAnnotation(written))).toEqual(written);
      }),
    );
  });

  it('of a writer that counts no restarts is one without counts', () => {
    expect(inPlaceMarkerOf('{"targetImages":{"main":"e:2"}}')).toEqual({
      targetImages: { main: 'e:2' },
      restartCounts: {},
    });
  });

  it('drops the counts that are none: they would prove what nobody saw', () => {
    const text = '{"targetImages":{"main":7},"restartCounts":{"main":"3","proxy":1.5,"side":2},"since":"x"}';
    expect(inPlaceMarkerOf(text)).toEqual({ targetImages: {}, restartCounts: { side: 2 } });
  });

  it.each([undefined, '', 'yes', '[]', 'null', '{"targetImages"'])('is not what says %j', (text) => {
    expect(inPlaceMarkerOf(text)).toBeUndefined();
  });
});
