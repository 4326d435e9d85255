import { expect, it } from 'vitest'
import { refusalOf } from './refusals.ts'

it.each<[message: string, reason: string, named: string]>([
  [
    'pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1',
    'QuotaExceeded',
    'resourcequota/few',
  ],
  [
    'pods "a" is forbidden: failed quota: q: must specify limits.cpu,limits.memory',
    'QuotaNeedsValues',
    'limits.cpu,limits.memory',
  ],
  ['pods "a" is forbidden: failed quota: q: must specify cpu for: main', 'QuotaNeedsValues', 'set cpu in the template'],
  [
    'pods "a" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi',
    'LimitRangeExceeded',
    'maximum memory usage per Pod',
  ],
  [
    "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    'DeniedByPolicy',
    'validatingadmissionpolicy/p',
  ],
  ['admission webhook "w.a.io" denied the request: no', 'DeniedByWebhook', 'w.a.io'],
  [
    'Internal error occurred: failed calling webhook "w.a.io": failed to call webhook: timeout',
    'WebhookFailed',
    'w.a.io',
  ],
  [
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot',
    'PodSecurityViolated',
    'restricted:latest',
  ],
  [
    'pods "a" is forbidden: error looking up service account d/robot: serviceaccount "robot" not found',
    'ServiceAccountMissing',
    'serviceaccount/robot',
  ],
  ['pods "a" is forbidden: no PriorityClass with name high was found', 'PriorityClassMissing', 'priorityclass/high'],
  [
    'pods "a" is forbidden: pod rejected: RuntimeClass "gvisor" not found',
    'RuntimeClassMissing',
    'runtimeclass/gvisor',
  ],
  [
    'pods "a" is forbidden: unable to create new content in namespace n because it is being terminated',
    'NamespaceTerminating',
    '',
  ],
  [
    'Pod "a" is invalid: spec.containers[0].image: Required value',
    'TemplateInvalid',
    'spec.containers[0].image: Required value',
  ],
  ['something else', 'CreationRefused', ''],
])('tells what refuses: %s', (message, reason, named) => {
  const refusal = refusalOf(message)
  expect(refusal.reason).toBe(reason)
  expect(refusal.remedy).toContain(named)
})
