// Clusters that are not made here: one that kind makes, or one that exists.
import { existsSync } from 'node:fs';
import { claimFolder, isThereACluster, removeCluster } from './cleanup.mjs';
import { Failure, Unsupported } from './failure.mjs';
import { run, succeeds } from './run.mjs';
import * as settings from './settings.mjs';

const notHere = async () => {
  throw new Failure('Nodes can be stopped only in the cluster that this script makes itself: leave OME_CLUSTER out.');
};
const cannotStopNodes = { stopKubelet: notHere, startKubelet: notHere, crashNode: notHere };

const kindName = 'ome-native';

/** A cluster made by kind, which must be installed, with Docker. */
export const kind = {
  ...cannotStopNodes,
  kubeconfig: () => settings.kubeconfig,
  async up({ nodes, fake }, say) {
    if (fake > 0) throw new Failure('kind makes real nodes only: leave --fake out, or leave OME_CLUSTER out.');
    if (!(await succeeds(['kind', 'version']))) {
      throw new Unsupported(
        'OME_CLUSTER=kind needs the program kind, and Docker. Install them, or leave OME_CLUSTER out.',
      );
    }
    if ((await run(['kind', 'get', 'clusters'])).split('\n').includes(kindName)) {
      say(`The kind cluster ${kindName} is up already.`);
      return;
    }
    claimFolder();
    const workers = Array.from({ length: nodes }, () => '- role: worker\n').join('');
    const config = `kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n${workers}`;
    say('kind makes the cluster.');
    const create = [
      'kind',
      'create',
      'cluster',
      '--name',
      kindName,
      '--kubeconfig',
      settings.kubeconfig,
      '--config',
      '-',
    ];
    await run(create, { input: config });
  },
  async down(say) {
    await run(['kind', 'delete', 'cluster', '--name', kindName]);
    if (isThereACluster()) await removeCluster();
    say(`The kind cluster ${kindName} is gone.`);
  },
};

/** The cluster that KUBECONFIG names. It is neither made nor removed. */
export const current = {
  ...cannotStopNodes,
  kubeconfig() {
    const name = process.env['KUBECONFIG'] ?? '';
    if (!existsSync(name)) throw new Failure('OME_CLUSTER=current needs the path of a kubeconfig in KUBECONFIG.');
    return name;
  },
  async up(_shape, say) {
    say(`Using the cluster that ${current.kubeconfig()} names, as it is.`);
  },
  async down(say) {
    say('The cluster that KUBECONFIG names is not ours to take down.');
  },
};
