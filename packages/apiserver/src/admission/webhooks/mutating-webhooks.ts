import {
  ApiError,
  applyJsonPatch,
  deepEqual,
  internalError,
  jsonFormOf,
  type KubernetesObject,
  mutatingWebhookConfigurations,
} from '@coracle/api'
import type { HeldClock } from '../../go-types.ts'
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../admission.ts'
import { changedObject } from '../matching/changed-object.ts'
import { isExemptFromWebhooks, versionWanted } from '../matching/criteria.ts'
import { Invocations } from '../matching/invocations.ts'
import { RequestObjects } from '../matching/versioned-objects.ts'
import { type ConfiguredWebhook, configuredWebhooks } from './configured-webhooks.ts'
import { ask, callFor, failed, type WebhookCall, type WebhookParts } from './webhook-call.ts'

/**
 * Asks the webhooks that may change what is written, one after the other, each about what those before it made. Where
 * something changed after a webhook was asked, it is asked once more if its policy says so (upstream's mutating dispatcher).
 */
export function mutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const configured = configuredWebhooks(parts, mutatingWebhookConfigurations)
  const requests = new WeakMap<Reinvocation, Invocations>()
  return {
    name: 'MutatingAdmissionWebhook',
    mutate(attributes, object, reinvocation) {
      const hooks = configured.current
      if (hooks.length === 0 || isExemptFromWebhooks(attributes)) return object
      if (!hooks.some(({ criteria }) => versionWanted(criteria, attributes) !== undefined)) return object
      let invocations = requests.get(reinvocation)
      if (invocations === undefined) {
        invocations = new Invocations()
        requests.set(reinvocation, invocations)
      }
      return dispatch(parts, hooks, { attributes, reinvocation, invocations }, object)
    },
  }
}

interface Round {
  readonly attributes: AdmissionAttributes
  readonly reinvocation: Reinvocation
  readonly invocations: Invocations
}

async function dispatch(
  parts: WebhookParts,
  hooks: readonly ConfiguredWebhook[],
  { attributes, reinvocation, invocations }: Round,
  given: KubernetesObject | undefined,
): Promise<KubernetesObject | undefined> {
  const { isSecondRound } = reinvocation
  if (isSecondRound && !deepEqual(invocations.made, given)) invocations.somethingChanged()
  let object = given
  let objects = new RequestObjects(attributes, object)
  for (const [index, hook] of hooks.entries()) {
    const call = await callFor(parts, hook, attributes, object, objects)
    if (call === undefined) continue
    // Whoever was not asked at first is not asked now, even if the object has come to match.
    if (isSecondRound && !invocations.again.has(hook.id)) continue
    const at = `round_${isSecondRound ? 1 : 0}_index_${index}`
    const changed = await invoke(parts, call, attributes, object, at)
    if (changed !== object) {
      object = changed
      objects = new RequestObjects(attributes, object)
      invocations.somethingChanged()
      reinvocation.ask()
    }
    if (hook.webhook.reinvocationPolicy === 'IfNeeded') invocations.asked(hook.id)
  }
  invocations.made = object
  return object
}

/** The object as a webhook wants it: the same where it changes nothing. */
async function invoke(
  parts: WebhookParts,
  call: WebhookCall,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  at: string,
): Promise<KubernetesObject | undefined> {
  const { configuration, webhook } = call.hook
  const { annotate } = attributes.context
  const about = { configuration, webhook: webhook.name }
  let mutated = false
  try {
    const { patch } = await ask(parts, call, attributes, true)
    if (patch === undefined) return object
    const changed = await patched(parts.environment.clock, call, attributes, patch)
    mutated = changed !== undefined
    annotate?.(`patch.webhook.admission.k8s.io/${at}`, JSON.stringify({ ...about, patch, patchType: 'JSONPatch' }))
    return changed ?? object
  } catch (error) {
    failed(parts, call.hook, attributes, error)
    annotate?.(`failed-open.mutation.webhook.admission.k8s.io/${at}`, webhook.name)
    return object
  } finally {
    annotate?.(`mutation.webhook.admission.k8s.io/${at}`, JSON.stringify({ ...about, mutated }))
  }
}

/** The object, in the form of the request, with a patch of its version applied; undefined where that changes nothing. */
async function patched(
  clock: HeldClock,
  { hook, version, objects }: WebhookCall,
  attributes: AdmissionAttributes,
  patch: readonly unknown[],
): Promise<KubernetesObject | undefined> {
  const { object: sent } = objects
  if (sent === undefined) {
    const name = JSON.stringify(hook.webhook.name)
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    )
  }
  try {
    return await changedObject(clock, attributes, version, sent, applyJsonPatch(jsonFormOf(sent), patch))
  } catch (error) {
    throw internalError(problemOf(error))
  }
}

/** Of a patch that does not fit, the cause says what does not. */
function problemOf(error: unknown): string {
  const [cause] = error instanceof ApiError ? (error.status.details?.causes ?? []) : []
  return cause?.message ?? (error as Error).message
}
