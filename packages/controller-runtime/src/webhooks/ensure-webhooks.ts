import {
  ApiError,
  type CustomResourceConversion,
  type KubernetesObject,
  mutatingWebhookConfigurations,
  type Resource,
  validatingWebhookConfigurations,
} from '@coracle/api'
import type { ApplyConfiguration, ApplyOptions, Client } from '@coracle/client'
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

type Configuration = KubernetesObject & { readonly webhooks?: readonly unknown[] | undefined }

interface Named {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

/**
 * Makes the API server ask webhooks, by a MutatingWebhookConfiguration and a ValidatingWebhookConfiguration of that name, with the
 * authority that vouches for them. Doing it again changes nothing. A configuration that it has made, and that has no webhooks any more, goes.
 */
export async function ensureWebhooks(client: Client, options: EnsureWebhooksOptions): Promise<void> {
  const { name, target, webhooks, fieldManager = 'controller-runtime' } = options
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const entries = (type: 'mutating' | 'validating') =>
    webhooks.filter(({ admission }) => admission?.type === type).map((webhook) => entryOf(webhook, target))
  const apply = { fieldManager, force: true }
  const mutating = { apiVersion, kind: 'MutatingWebhookConfiguration', metadata: { name } }
  const validating = { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name } }
  await ensure(client, mutatingWebhookConfigurations, mutating, entries('mutating'), apply)
  await ensure(client, validatingWebhookConfigurations, validating, entries('validating'), apply)
}

async function ensure<T extends Configuration>(
  client: Client,
  kind: Resource<T>,
  configuration: Named,
  webhooks: readonly object[],
  apply: ApplyOptions,
): Promise<void> {
  if (webhooks.length === 0) return withdraw(client, kind, configuration, apply)
  await client.apply(kind, { ...configuration, webhooks } as ApplyConfiguration<T>, apply)
}

/**
 * Takes out of a configuration what the manager has applied, and deletes it where nothing is left. What others have put there stays; one that
 * may not be read is none of the manager's.
 */
async function withdraw<T extends Configuration>(
  client: Client,
  kind: Resource<T>,
  configuration: Named,
  apply: ApplyOptions,
): Promise<void> {
  const { name } = configuration.metadata
  const found = await client.get(kind, { name }).catch(unlessFor('NotFound', 'Forbidden'))
  if ((found?.webhooks ?? []).length === 0) return
  const { metadata, webhooks = [] } = await client.apply(kind, configuration as ApplyConfiguration<T>, apply)
  if (webhooks.length > 0) return
  const { uid = '', resourceVersion = '' } = metadata
  // Empty, it asks nobody: whoever writes it at the same time, or forbids its deletion, may keep it.
  const unlessKept = unlessFor('NotFound', 'Conflict', 'Forbidden')
  await client.delete(kind, { name }, { preconditions: { uid, resourceVersion } }).catch(unlessKept)
}

const unlessFor =
  (...reasons: readonly string[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof ApiError) || !reasons.includes(error.reason)) throw error
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
