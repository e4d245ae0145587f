/** What a person may try on the cluster that was left running. */
import type { Screen } from './screen.js';

export interface Kept {
  readonly kubeconfig: string;
  /** Path of the manifests. */
  readonly manifests: string;
}

/** Says how to look around, and that what happens is still told. */
export function printCommands(screen: Screen, { kubeconfig, manifests }: Kept): void {
  screen.heading(
    'The cluster and the manager go on; Ctrl-C ends them',
    'In another shell, with any kubectl of yours (containers are simulated: there are no logs, and there is no exec):',
  );
  screen.verbatim([
    `export KUBECONFIG=${kubeconfig}`,
    `kubectl apply --server-side -f ${manifests}`,
    'kubectl wait isvc/chat isvc/llama --for=condition=Ready --timeout=60s',
    'kubectl get isvc,irep,pods -o wide',
    'kubectl describe isvc chat',
    'kubectl get pods -w',
    `kubectl patch isvc chat --type=merge -p '${imagePatch}'`,
    'kubectl scale irep llama-engine --replicas=3',
    'kubectl delete pod llama-engine-0-worker-1',
    'kubectl delete isvc chat llama',
  ]);
  screen.text('What comes of them is told here.');
}

const imagePatch = JSON.stringify({ spec: { engine: { runner: { image: 'simulated/echo:v2' } } } });
