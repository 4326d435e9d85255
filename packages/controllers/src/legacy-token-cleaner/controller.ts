import {
  type ConfigMap,
  configMaps,
  dayMs,
  podReferences,
  pods,
  secrets,
  serviceAccounts,
  tokenTracking,
} from '@coracle/api'
import { keyText } from '@coracle/client'
import { type Controller, controller, performPlan, type ReconcileContext } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { tokenSecretType } from '../service-account-token/plan.ts'

/** How often it is looked for tokens that nobody uses. */
export const cleanupIntervalMs = dayMs

const none = (): readonly string[] => []

/** Has tokens of service accounts refused that nobody uses, and removes them in the end, once a day. */
export function createLegacyTokenCleaner(): Controller {
  let lookedAt: Time = Number.NEGATIVE_INFINITY
  return controller('legacy-serviceaccount-token-cleaner-controller', {
    component: 'legacy-serviceaccount-token-cleaner-controller',
  })
    .for(configMaps, {
      fieldSelector: `metadata.namespace=${tokenTracking.namespace},metadata.name=${tokenTracking.name}`,
    })
    .watches(secrets, none, { fieldSelector: `type=${tokenSecretType}` })
    .watches(serviceAccounts, none)
    .watches(pods, none)
    .reconcile(async ({ object: tracking }, context) => {
      if (tracking === undefined) return undefined
      const nowMs = context.clock.now()
      const nextMs = lookedAt + cleanupIntervalMs
      if (nowMs < nextMs) return { requeueAfterMs: nextMs - nowMs, poll: true }
      lookedAt = nowMs
      if (context.informer(secrets).list().length === 0) return { requeueAfterMs: cleanupIntervalMs, poll: true }
      // Few clusters keep tokens in Secrets. Where time is virtual it stands still meanwhile.
      const { planTokenCleanup } = await context.clock.hold(import('./plan.ts'))
      const actions = planTokenCleanup(
        {
          tracking,
          secrets: context.informer(secrets).list(),
          accountNamed: (namespace, name) => context.informer(serviceAccounts).get(keyText(namespace, name)),
          namedByPods: namedByPods(context),
        },
        nowMs,
      )
      await performPlan(context, tracking, { actions })
      return { requeueAfterMs: cleanupIntervalMs, poll: true }
    })
}

/** The secrets that pods of a namespace name, read once for each namespace. */
function namedByPods(context: ReconcileContext<ConfigMap>): (namespace: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>()
  const read = (namespace: string): ReadonlySet<string> => {
    const references = context.informer(pods).list(namespace).flatMap(podReferences)
    return new Set(references.filter(({ plural }) => plural === 'secrets').map(({ name }) => name))
  }
  return (namespace) => {
    const names = known.get(namespace) ?? read(namespace)
    known.set(namespace, names)
    return names
  }
}
