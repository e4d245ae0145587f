/** What a person may try on the cluster that was left running. */
import type { Screen } from './screen.js';

export interface Kept {
  readonly kubeconfig: string;
  /** Paths of the manifests. */
  readonly chat: string;
  readonly llama: string;
}

export function printCommands(screen: Screen, { kubeconfig, chat, llama }: Kept): void {
  screen.heading(
    'The cluster and the manager go on; Ctrl-C ends them',
    'In another shell, with any kubectl (the nodes and the containers are simulated: there are no logs, and no exec):',
  );
  const commands = [
    `export KUBECONFIG=${kubeconfig}`,
    `kubectl apply -f ${chat} -f ${llama}`,
    'kubectl wait isvc/chat isvc/llama --for=condition=Ready --timeout=60s',
    'kubectl get isvc,irep,pods -o wide',
    'kubectl describe irep chat-engine',
    'kubectl get pods -w                        # leave it running, and in a third shell:',
    `kubectl patch isvc chat --type=merge -p '${imagePatch}'`,
    'kubectl scale irep llama-engine --replicas=3',
    'kubectl delete pod llama-engine-0-worker-1 # the gang is repaired as a whole',
    'kubectl delete isvc chat llama',
  ];
  screen.verbatim('');
  for (const command of commands) screen.verbatim(command);
}

const imagePatch = JSON.stringify({ spec: { engine: { runner: { image: 'simulated/echo:v2' } } } });
