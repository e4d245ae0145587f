/**
 * What a template says, whoever wrote it down: two texts that make the same pod have the same meaning. An API server that
 * fills in defaults, a typed client that leaves out what is empty, and a person who spells a quantity in another way all
 * change the text of a template, and none of them may roll a fleet. The tables may grow with what new versions fill in; what
 * they miss costs a roll, so nothing belongs here that could change a pod.
 */
import {
  asRecord,
  asText,
  asTextMap,
  canonicalJson,
  isRecord,
  type JsonRecord,
  label,
  mainContainerName,
  sameJson,
} from '@omenative/api';
import { quantityInNanos } from './quantity.js';
import { revisionContent } from './revision.js';
import type { RevisionPayload } from './snapshot.js';

/** How an object of a pod spec, or each object of a list, is read. Null members and empty lists never say anything. */
interface Rule {
  /** Values that say no more than their absence. */
  readonly defaults?: JsonRecord | ((object: JsonRecord) => JsonRecord);
  /** Members that say nothing when they are an empty object. */
  readonly hollow?: readonly string[];
  /** Members that are a quantity, or a map of them. */
  readonly quantities?: readonly string[];
  readonly members?: Readonly<Record<string, Rule>>;
}

const httpGet: Rule = { defaults: { path: '/', scheme: 'HTTP', host: '' } };
const handler: Rule = { members: { httpGet } };
const probe: Rule = {
  defaults: { initialDelaySeconds: 0, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  members: { httpGet, grpc: { defaults: { service: '' } } },
};

const reference: Rule = { defaults: { name: '', optional: false } };
const fieldRef: Rule = { defaults: { apiVersion: 'v1' } };
const resourceFieldRef: Rule = { quantities: ['divisor'], defaults: { divisor: '0' } };
const env: Rule = {
  defaults: { value: '' },
  members: {
    valueFrom: { members: { fieldRef, resourceFieldRef, configMapKeyRef: reference, secretKeyRef: reference } },
  },
};

const resources: Rule = { hollow: ['limits', 'requests'], quantities: ['limits', 'requests'] };
const container: Rule = {
  defaults: ({ image }) => ({
    name: mainContainerName,
    imagePullPolicy: /:(?!latest$)[^/]+$|@/.test(asText(image)) ? 'IfNotPresent' : 'Always',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    workingDir: '',
    stdin: false,
    stdinOnce: false,
    tty: false,
  }),
  hollow: ['resources', 'securityContext', 'lifecycle'],
  members: {
    ports: { defaults: { protocol: 'TCP', name: '', hostIP: '', hostPort: 0 } },
    env,
    envFrom: { defaults: { prefix: '' }, members: { configMapRef: reference, secretRef: reference } },
    resources,
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: { members: { postStart: handler, preStop: handler } },
    volumeMounts: { defaults: { readOnly: false, subPath: '', subPathExpr: '' } },
    securityContext: { hollow: ['capabilities'], defaults: { procMount: 'Default' } },
  },
};

const filesOf: Rule = { defaults: { defaultMode: 0o644, name: '', optional: false } };
const downwardApi: Rule = {
  defaults: { defaultMode: 0o644 },
  members: { items: { members: { fieldRef, resourceFieldRef } } },
};
const volume: Rule = {
  // A volume that names no source is an empty directory.
  defaults: { emptyDir: {} },
  members: {
    configMap: filesOf,
    secret: filesOf,
    downwardAPI: downwardApi,
    projected: {
      defaults: { defaultMode: 0o644 },
      members: {
        sources: {
          members: {
            configMap: reference,
            secret: reference,
            downwardAPI: downwardApi,
            serviceAccountToken: { defaults: { expirationSeconds: 3600, audience: '' } },
          },
        },
      },
    },
    emptyDir: { defaults: { medium: '' }, quantities: ['sizeLimit'] },
    hostPath: { defaults: { type: '' } },
    persistentVolumeClaim: { defaults: { readOnly: false } },
    nfs: { defaults: { readOnly: false } },
    ephemeral: {
      members: {
        volumeClaimTemplate: {
          hollow: ['metadata'],
          members: { spec: { defaults: { volumeMode: 'Filesystem' }, hollow: ['resources'], members: { resources } } },
        },
      },
    },
  },
};

const podSpec: Rule = {
  defaults: {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    hostNetwork: false,
    hostPID: false,
    hostIPC: false,
    serviceAccountName: '',
    priorityClassName: '',
    nodeName: '',
  },
  hollow: ['securityContext', 'nodeSelector', 'affinity', 'overhead', 'resources'],
  quantities: ['overhead'],
  members: {
    containers: container,
    initContainers: container,
    volumes: volume,
    resources,
    affinity: { hollow: ['nodeAffinity', 'podAffinity', 'podAntiAffinity'] },
    tolerations: { defaults: { operator: 'Equal', key: '', value: '', effect: '' } },
    topologySpreadConstraints: { defaults: { nodeAffinityPolicy: 'Honor', nodeTaintsPolicy: 'Ignore' } },
    imagePullSecrets: reference,
  },
};

/** Labels that a pod gets from its place, whatever the template says. */
const placeLabels: ReadonlySet<string> = new Set([
  label.inferenceService,
  label.component,
  label.managedBy,
  label.instanceIndex,
  label.incarnation,
  label.runner,
  label.podOrdinal,
  label.revisionHash,
]);

/** Labels for people and dashboards that a controller adds of its own accord: each version its own choice of them. */
const informationalLabels: ReadonlySet<string> = new Set([
  'serving-runtime',
  'base-model-name',
  'base-model-size',
  'base-model-type',
  'fine-tuned-serving',
]);

/** Payloads live as long as the cache keeps their revision. */
const known: WeakMap<RevisionPayload, string> = new WeakMap();

/** The meaning of a payload as canonical text, to be compared and never to be stored. */
export function meaningOf(payload: RevisionPayload): string {
  const before = known.get(payload);
  if (before !== undefined) return before;
  const { topologyKey, pairingProtocol } = revisionContent(payload);
  const runners = payload.runners.map(({ name, size, template }) => ({ name, size, ...templateMeaning(template) }));
  const meaning = canonicalJson({ runners, topologyKey, pairingProtocol });
  known.set(payload, meaning);
  return meaning;
}

function templateMeaning(template: unknown): JsonRecord {
  const { metadata, spec } = asRecord(template);
  return {
    labels: Object.fromEntries(
      Object.entries(asTextMap(asRecord(metadata)['labels'])).filter(
        ([key]) => !placeLabels.has(key) && !informationalLabels.has(key),
      ),
    ),
    annotations: asTextMap(asRecord(metadata)['annotations']),
    spec: meaningOfPodSpec(spec),
  };
}

/** A pod spec without what says nothing: equal for two that make the same pod. */
export function meaningOfPodSpec(spec: unknown): JsonRecord {
  return readObject(asRecord(spec), podSpec);
}

function read(value: unknown, rule: Rule | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => read(item, rule));
  return isRecord(value) ? readObject(value, rule) : value;
}

function readObject(object: JsonRecord, rule: Rule = {}): JsonRecord {
  const defaults = typeof rule.defaults === 'function' ? rule.defaults(object) : (rule.defaults ?? {});
  const kept: [string, unknown][] = [];
  for (const [key, member] of Object.entries(object)) {
    const said = read(member, rule.members?.[key]);
    const isEmptyList = Array.isArray(said) && said.length === 0;
    const isHollow = isRecord(said) && Object.keys(said).length === 0 && rule.hollow?.includes(key) === true;
    if (said === null || said === undefined || isEmptyList || isHollow) continue;
    if (key in defaults && sameJson(said, defaults[key])) continue;
    kept.push([key, rule.quantities?.includes(key) === true ? amounts(said) : said]);
  }
  return Object.fromEntries(kept);
}

/** Quantities by their amount; what is none stays as it is written. */
function amounts(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, amounts(member)]));
  const nanos = quantityInNanos(value);
  return nanos === undefined ? value : `${nanos}n`;
}
