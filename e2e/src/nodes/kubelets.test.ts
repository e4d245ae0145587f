/** The conformance cases that only real kubelets can answer: what the simulated ones do is what these do. */
import { describe, it, jest } from '@jest/globals';
import { cases, titled } from '../conformance/testing/cases/index.js';
import { onRealCluster } from '../conformance/testing/real-bed.js';

const kubeconfig = process.env['OME_E2E_KUBECONFIG'];

describe('real kubelets', () => {
  if (kubeconfig !== undefined && process.env['OME_E2E_NODES'] === '1') {
    jest.setTimeout(120_000);
    const needing = cases.filter((one) => one.needs === 'nodes');
    // Most of a case is waiting for a kubelet, and each has a namespace of its own.
    it.concurrent.each(titled(needing))('%s: %s', async (_id, _title, one) => {
      await onRealCluster(one, kubeconfig);
    });
  } else if (process.env['CI'] === 'true') {
    it('have a cluster with nodes to run on', () => {
      throw new Error('OME_E2E_KUBECONFIG and OME_E2E_NODES=1 are not set; in CI these cases must run on real nodes');
    });
  } else {
    it.skip('need a cluster with nodes: set OME_E2E_KUBECONFIG and OME_E2E_NODES=1', () => {});
  }
});
