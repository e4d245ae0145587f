/** Policies and webhooks that refuse pods of one image, as objects of a real cluster. */
import { FORBIDDEN_IMAGE, type Json, type Refusing } from './bed.js';

const GROUP = 'admissionregistration.k8s.io';

/** An object, and the path it is created under. */
interface Draft {
  readonly path: string;
  readonly body: Json;
}

/** What to create so that pods of the forbidden image are refused in a namespace, in order. */
export function refusingObjects(refusing: Refusing, name: string, namespace: string): readonly Draft[] {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] }];
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  if (refusing === 'unreachable') {
    const webhook = {
      name,
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules,
      namespaceSelector,
      matchConditions: [{ name: 'image', expression: `object.spec.containers[0].image == '${FORBIDDEN_IMAGE}'` }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      failurePolicy: 'Fail',
    };
    return [draft('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', name, { webhooks: [webhook] })];
  }
  const validation = {
    expression: `object.spec.containers[0].image != '${FORBIDDEN_IMAGE}'`,
    message: 'not this image',
    reason: refusing,
  };
  const policy = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: rules, namespaceSelector },
    validations: [validation],
  };
  return [
    draft('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', name, { spec: policy }),
    draft('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', name, {
      spec: { policyName: name, validationActions: ['Deny'] },
    }),
  ];
}

function draft(kind: string, plural: string, name: string, more: Json): Draft {
  return {
    path: `/apis/${GROUP}/v1/${plural}`,
    body: { apiVersion: `${GROUP}/v1`, kind, metadata: { name }, ...more },
  };
}
