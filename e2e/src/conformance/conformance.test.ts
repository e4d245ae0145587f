/** Every case on the simulated cluster, and the same cases on a real one: what the simulator does is what Kubernetes does. */
import { describe, expect, it, jest } from '@jest/globals';
import { FEATURES } from '@omenative/sim';
import type { Case } from './testing/bed.js';
import { cases, titled } from './testing/cases/index.js';
import { onRealCluster } from './testing/real-bed.js';
import { SimBed } from './testing/sim-bed.js';

const kubeconfig = process.env['OME_E2E_KUBECONFIG'];
const withNodes = process.env['OME_E2E_NODES'] === '1';

describe('on the simulated cluster', () => {
  it.each(titled(cases))('%s: %s', async (_id, _title, one) => {
    await one.run(new SimBed(1));
  });
});

describe('on a real cluster', () => {
  if (kubeconfig) {
    jest.setTimeout(120_000);
    const possible = cases.filter((one) => one.needs !== 'nodes' || withNodes);
    // Each case has a namespace of its own. Those of controllers share the nodes, and some of them close them.
    const together = possible.filter((one) => sharesNothing(one)).toSorted(patientFirst);
    it.concurrent.each(titled(together))('%s: %s', async (_id, _title, one) => {
      await onRealCluster(one, kubeconfig);
    });
    const inTurn = possible.filter((one) => !sharesNothing(one));
    it.each(titled(inTurn))('%s: %s', async (_id, _title, one) => {
      await onRealCluster(one, kubeconfig);
    });
  } else if (process.env['CI'] === 'true') {
    it('has a cluster to run against', () => {
      throw new Error('OME_E2E_KUBECONFIG is not set; in CI the conformance cases must run on a real cluster too');
    });
  } else {
    it.skip('needs a real cluster: set OME_E2E_KUBECONFIG to a kubeconfig', () => {});
  }
});

function sharesNothing({ needs, isPatient = false }: Case): boolean {
  return needs !== 'controllers' || isPatient;
}

function patientFirst(one: Case, other: Case): number {
  return Number(other.isPatient ?? false) - Number(one.isPatient ?? false);
}

describe('the table of features', () => {
  const ids = cases.map((one) => one.id);

  it('names every case once', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(Object.entries(FEATURES))('has cases for: %s', (_feature, named) => {
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('leaves no case without a feature', () => {
    const named = new Set(Object.values(FEATURES).flat());
    expect(ids.filter((id) => !named.has(id))).toEqual([]);
  });
});
