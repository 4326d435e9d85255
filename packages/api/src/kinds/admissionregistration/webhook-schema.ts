import {
  atomicList,
  bytes,
  enumOf,
  int32,
  mapList,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { admissionregistrationV1 } from './names.ts'
import { admissionRule, matchCondition } from './rule-schema.ts'

const serviceReference = object(`${admissionregistrationV1}.ServiceReference`, 'A service that is asked.', {
  namespace: required(string(), 'The namespace of the service.', { default: '' }),
  name: required(string(), 'The name of the service.', { default: '' }),
  path: pointer(string(), 'The path that is asked for.'),
  port: pointer(int32(), 'The port of the service.', { default: 443 }),
})

const webhookClientConfig = object(`${admissionregistrationV1}.WebhookClientConfig`, 'How a webhook is reached.', {
  url: pointer(string(), 'Where it is: https://host:port/path. Instead of a service.'),
  service: optional(serviceReference, 'The service it is behind. Instead of a URL.'),
  caBundle: optional(bytes, 'The certificates (PEM) that its own is checked by; those of the host without them.'),
})

/** What mutating and validating webhooks have in common. */
const webhookFields = {
  name: required(string(), 'What the webhook is called, with a domain: sidecars.example.com.'),
  clientConfig: required(webhookClientConfig, 'How it is reached.', { default: {} }),
  rules: optional(atomicList(admissionRule), 'The requests it is asked about: those that any of the rules matches.'),
  failurePolicy: pointer(
    enumOf('Fail', 'Ignore'),
    'What becomes of a request when the webhook cannot be asked: it is refused, or goes on.',
    { default: 'Fail' },
  ),
  matchPolicy: pointer(
    enumOf('Equivalent', 'Exact'),
    'Equivalent: requests for another version of a resource in the rules are converted to that one. Exact: they do not match.',
    { default: 'Equivalent' },
  ),
  namespaceSelector: optional(labelSelector, 'The namespaces whose objects it is asked about, by their labels.', {
    default: {},
  }),
  objectSelector: optional(
    labelSelector,
    'The objects it is asked about, by their labels before or after the request.',
    { default: {} },
  ),
  sideEffects: required(string(), 'Whether asking changes anything beside the answer: None, or NoneOnDryRun.', {
    pointer: true,
    absenceIsToldByRules: true,
  }),
  timeoutSeconds: pointer(int32(), 'How long it may take, between 1 and 30 seconds.', { default: 10 }),
  admissionReviewVersions: required(
    atomicList(string()),
    'Versions of AdmissionReview that it understands, the best first: v1 or v1beta1.',
    { default: [] },
  ),
  matchConditions: optional(
    mapList(matchCondition, ['name']),
    'Further conditions that a request must meet. At most 64.',
  ),
}

/** A webhook that may refuse requests. */
export interface ValidatingWebhook extends Infer<typeof validatingWebhook> {}
export const validatingWebhook = object(
  `${admissionregistrationV1}.ValidatingWebhook`,
  'A webhook that is asked whether requests may be carried out.',
  webhookFields,
)

/** A webhook that may change what requests write, and refuse them. */
export interface MutatingWebhook extends Infer<typeof mutatingWebhook> {}
export const mutatingWebhook = object(
  `${admissionregistrationV1}.MutatingWebhook`,
  'A webhook that is asked to change what requests write.',
  {
    ...webhookFields,
    reinvocationPolicy: pointer(
      enumOf('IfNeeded', 'Never'),
      'Whether it is asked again where something changed the object after it.',
      { default: 'Never' },
    ),
  },
)
