/** What the demo shows, step by step. */
import {
  allRun,
  answered,
  atMostPods,
  entersTogether,
  noneDropped,
  noneFailed,
  nothingLeft,
  readyInstances,
  routed,
  sent,
} from './expectations.js';
import { chat, demoNamespace, image, llama, preStopSeconds } from './manifests.js';
import type { Step } from './step.js';
import type { Traffic } from './traffic.js';
import type { User } from './user.js';
import type { Witness } from './witness.js';

export interface Cast {
  readonly user: User;
  readonly witness: Witness;
  readonly traffic: Traffic;
}

export function story({ user, witness, traffic }: Cast): readonly Step[] {
  const leaders = [0, 1].map((index) => `llama-engine-${index}-leader-0`);
  const firstPods = (count: number): readonly string[] => podNames(count, 0);
  return [
    {
      title: '1. Two Instances of one pod',
      explanation:
        'An InferenceService of two replicas is applied: its Instances are created, and each gets requests once its pod is ready and the pod’s serving gate is open.',
      act: async () => {
        for (const object of [demoNamespace, ...chat]) await user.apply(object);
      },
      reaches: [readyInstances(witness, 'chat', 2, 'one pod each'), routed(witness, 'chat', firstPods(2))],
      holds: [],
    },
    {
      title: '2. Two gangs of three pods',
      explanation:
        'A second one has a leader and two workers in each Instance: useless unless all are up, so all gates of a gang open together and only its leader gets requests.',
      act: async () => {
        for (const object of llama) await user.apply(object);
      },
      reaches: [
        readyInstances(witness, 'llama', 2, 'a leader and two workers each'),
        routed(witness, 'llama', leaders),
      ],
      holds: [entersTogether(witness, 'llama', 3)],
    },
    {
      title: '3. Traffic',
      explanation:
        'From here to the end a simulated client sends requests to both Services, each to a pod that it picks from a copy of the endpoints that is up to half a second old.',
      act: async () => traffic.start(['chat', 'llama']),
      reaches: [sent(traffic, 100), answered(traffic, [...firstPods(2), ...leaders])],
      holds: [noneFailed(traffic)],
    },
    {
      title: '4. A third replica',
      explanation: 'Scaling to three adds one Instance and leaves the others alone.',
      act: () => user.patchService('chat', { spec: { engine: { minReplicas: 3, maxReplicas: 3 } } }),
      reaches: [
        readyInstances(witness, 'chat', 3, 'one pod each'),
        routed(witness, 'chat', firstPods(3)),
        answered(traffic, ['chat-engine-2-default-0']),
      ],
      holds: [noneFailed(traffic)],
    },
    {
      title: '5. A new image',
      explanation:
        'The update surges one pod at a time: the new pod serves before the old one leaves rotation, and the old one finishes its requests before it ends. The pod names flip from -0 to -1.',
      act: () => user.patchService('chat', { spec: { engine: { runner: { image: image('v2') } } } }),
      reaches: [
        allRun(witness, 'chat', image('v2')),
        readyInstances(witness, 'chat', 3, 'one pod each'),
        routed(witness, 'chat', podNames(3, 1)),
      ],
      holds: [atMostPods(witness, 'chat', 4), noneFailed(traffic)],
    },
    {
      title: '6. Deletion',
      explanation: `Both are deleted while requests still come: each pod leaves rotation first, finishes what reaches it for ${preStopSeconds} seconds, and only then ends.`,
      act: async () => {
        await user.deleteService('chat');
        await user.deleteService('llama');
      },
      reaches: [nothingLeft(witness)],
      holds: [noneDropped(traffic)],
    },
  ];
}

/** Names of the single pods of `chat`, one for each Instance. */
function podNames(count: number, ordinal: 0 | 1): readonly string[] {
  return Array.from({ length: count }, (_, index) => `chat-engine-${index}-default-${ordinal}`);
}
