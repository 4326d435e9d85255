import { type KubernetesObject, validatingWebhookConfigurations } from '@coracle/api'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts'
import { isExemptFromWebhooks, versionWanted } from '../matching/criteria.ts'
import { RequestObjects } from '../matching/versioned-objects.ts'
import { type ConfiguredWebhook, configuredWebhooks } from './configured-webhooks.ts'
import { ask, callFor, failed, type WebhookCall, type WebhookParts } from './webhook-call.ts'

/** Asks the webhooks that judge what is written, all at the same time (upstream's validating dispatcher). */
export function validatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const configured = configuredWebhooks(parts, validatingWebhookConfigurations)
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(attributes, object) {
      const hooks = configured.current
      if (hooks.length === 0 || isExemptFromWebhooks(attributes)) return
      const concerned = hooks.filter(({ criteria }) => versionWanted(criteria, attributes) !== undefined)
      if (concerned.length > 0) return dispatch(parts, concerned, attributes, object)
    },
  }
}

async function dispatch(
  parts: WebhookParts,
  hooks: readonly ConfiguredWebhook[],
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
): Promise<void> {
  const objects = new RequestObjects(attributes, object)
  const calls: WebhookCall[] = []
  for (const hook of hooks) {
    const call = await callFor(parts, hook, attributes, object, objects)
    if (call !== undefined) calls.push(call)
  }
  const asked = await Promise.allSettled(calls.map((call) => judge(parts, call, attributes)))
  // Of several refusals the client hears that of the webhook that comes first.
  for (const outcome of asked) if (outcome.status === 'rejected') throw outcome.reason
}

async function judge(parts: WebhookParts, call: WebhookCall, attributes: AdmissionAttributes): Promise<void> {
  try {
    await ask(parts, call, attributes, false)
  } catch (error) {
    failed(parts, call.hook, attributes, error)
  }
}
