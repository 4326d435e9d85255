import { latestOf } from '../events.ts'
import type { Facts } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

interface Refusal {
  readonly reason: string
  readonly pattern: RegExp
  /** What the parts that the pattern has found say to do. */
  remedy(...parts: readonly string[]): string
}

/** What the API server refuses to create, by what it says of it. A sentence may hold several: the first counts. */
const refusals: readonly Refusal[] = [
  {
    reason: 'QuotaExceeded',
    pattern: /exceeded quota: ([^\s,]+)/,
    remedy: (quota) => `raise resourcequota/${quota}, delete what is not needed, or ask for less`,
  },
  {
    reason: 'QuotaNeedsValues',
    pattern: /failed quota: ([^\s:]+): must specify (.+?)(?:$| for:)/,
    remedy: (quota, fields) =>
      `set ${fields} in the template, or give the namespace a LimitRange with defaults: resourcequota/${quota} counts them`,
  },
  {
    reason: 'LimitRangeExceeded',
    pattern: /((?:maximum|minimum) \S+ usage per \S+|\S+ max limit to request ratio per \S+)/,
    remedy: (limit) => `keep within the LimitRange of the namespace (${limit}), or change it`,
  },
  {
    reason: 'DeniedByPolicy',
    pattern: /(?:Validating|Mutating)AdmissionPolicy '([^']+)' with binding '([^']+)' denied request/,
    remedy: (policy) => `change what validatingadmissionpolicy/${policy} refuses, or the policy`,
  },
  {
    reason: 'DeniedByWebhook',
    pattern: /admission webhook "([^"]+)" denied the request/,
    remedy: (webhook) => `change what webhook ${webhook} refuses, or ask whoever runs it`,
  },
  {
    reason: 'WebhookFailed',
    pattern: /failed calling webhook "([^"]+)"/,
    remedy: (webhook) =>
      `see that webhook ${webhook} is reachable and answers; failurePolicy: Ignore in its configuration lets requests pass without it`,
  },
  {
    reason: 'PodSecurityViolated',
    pattern: /violates PodSecurity "([^"]+)"/,
    remedy: (level) => `give the pods a security context that fits ${level}, or change the label of the namespace`,
  },
  {
    reason: 'ServiceAccountMissing',
    pattern: /serviceaccounts? "([^"]+)" not found/,
    remedy: (name) => `create serviceaccount/${name.split('/').at(-1)}, or name another in spec.serviceAccountName`,
  },
  {
    reason: 'PriorityClassMissing',
    pattern: /no PriorityClass with name (\S+) was found/,
    remedy: (name) => `create priorityclass/${name}, or name another in spec.priorityClassName`,
  },
  {
    reason: 'RuntimeClassMissing',
    pattern: /RuntimeClass "([^"]+)" not found/,
    remedy: (name) => `create runtimeclass/${name}, or name another in spec.runtimeClassName`,
  },
  {
    reason: 'NamespaceTerminating',
    pattern: /because it is being terminated/,
    remedy: () => 'nothing is created in a namespace that is being deleted',
  },
  {
    reason: 'TemplateInvalid',
    pattern: /is invalid: (.+)/,
    remedy: (fields) => `correct the template: ${fields}`,
  },
]

/** Reason and remedy of what the API server said when it refused to create something. */
export function refusalOf(message: string): Pick<Diagnosis, 'reason' | 'remedy'> {
  for (const { reason, pattern, remedy } of refusals) {
    const match = pattern.exec(message)
    if (match !== null) return { reason, remedy: remedy(...match.slice(1)) }
  }
  return { reason: 'CreationRefused', remedy: 'correct its template, or what refuses it' }
}

/**
 * What was to be created was refused, and that is all that is left of it: an event of whoever wanted to create it. It counts until
 * something was created.
 */
export function refusedCreation(what: string): (facts: Facts) => Diagnosis | undefined {
  return ({ events }) => {
    const refused = latestOf(
      events,
      ['FailedCreate', 'ReplicaSetCreateError'],
      ['SuccessfulCreate', 'ScalingReplicaSet'],
    )
    if (refused === undefined) return undefined
    const because = refused.message ?? ''
    return { ...refusalOf(because), what, because }
  }
}
