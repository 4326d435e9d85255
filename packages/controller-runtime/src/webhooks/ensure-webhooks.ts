import {
  type CustomResourceConversion,
  mutatingWebhookConfigurations,
  type Resource,
  validatingWebhookConfigurations,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Webhook } from './webhook.ts'

/** How an API server reaches webhooks: at an address (their path is added), or behind a Service. */
export type WebhookTarget = { readonly ca?: string | undefined } & (
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
)

export interface EnsureWebhooksOptions {
  /** What the configurations are called. */
  readonly name: string
  readonly target: WebhookTarget
  readonly webhooks: readonly Webhook[]
  readonly fieldManager?: string
}

/**
 * Makes the API server ask webhooks, by a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration of that name, with the
 * authority that vouches for them. Doing it again changes nothing.
 */
export async function ensureWebhooks(client: Client, options: EnsureWebhooksOptions): Promise<void> {
  const { name, target, webhooks, fieldManager = 'controller-runtime' } = options
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const entries = (type: 'mutating' | 'validating') =>
    webhooks.filter(({ admission }) => admission?.type === type).map((webhook) => entryOf(webhook, target))
  const mutating = entries('mutating')
  const validating = entries('validating')
  const apply = { fieldManager, force: true }
  const metadata = { name }
  if (mutating.length > 0) {
    const configuration = { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, webhooks: mutating }
    await client.apply(mutatingWebhookConfigurations, configuration, apply)
  }
  if (validating.length > 0) {
    const configuration = { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: validating }
    await client.apply(validatingWebhookConfigurations, configuration, apply)
  }
}

/** The `conversion` of a kind whose versions a webhook converts. */
export function conversionOf({ path }: Webhook, target: WebhookTarget): CustomResourceConversion {
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: clientConfigOf(path, target), conversionReviewVersions: ['v1'] },
  }
}

function entryOf({ path, admission }: Webhook, target: WebhookTarget) {
  const { resource, options } = admission ?? { resource: everything, options: {} }
  const { operations = ['CREATE', 'UPDATE'], failurePolicy = 'Fail', timeoutSeconds = 10, objectSelector } = options
  return {
    // A webhook's name must be a domain of three labels or more.
    name: `${path.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')}.${resource.plural}.${resource.group || 'core'}`,
    clientConfig: clientConfigOf(path, target),
    rules: [{ operations, apiGroups: [resource.group], apiVersions: [resource.version], resources: [resource.plural] }],
    failurePolicy,
    timeoutSeconds,
    ...(objectSelector === undefined ? {} : { objectSelector: { matchLabels: objectSelector } }),
    sideEffects: 'NoneOnDryRun',
    admissionReviewVersions: ['v1'],
  }
}

const everything: Resource = { group: '*', version: '*', kind: '', plural: '*', namespaced: true }

function clientConfigOf(path: string, target: WebhookTarget) {
  const bundle = target.ca === undefined ? {} : { caBundle: Buffer.from(target.ca).toString('base64') }
  return 'url' in target
    ? { url: `${target.url}${path}`, ...bundle }
    : { service: { ...target.service, path }, ...bundle }
}
