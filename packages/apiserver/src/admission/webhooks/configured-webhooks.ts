import {
  type KubernetesObject,
  type MutatingWebhook,
  type StoredKind,
  selectorFromLabelSelector,
  type ValidatingWebhook,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import { MatchConditions } from '../matching/conditions.ts'
import { Configured } from '../matching/configured.ts'
import type { MatchCriteria } from '../matching/criteria.ts'
import type { WebhookParts } from './webhook-call.ts'

/** A webhook that is configured, ready to be matched with requests. */
export interface ConfiguredWebhook {
  /** Tells it from all others, also where names are the same. */
  readonly id: string
  readonly configuration: string
  readonly webhook: ValidatingWebhook & Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>
  readonly criteria: MatchCriteria
  readonly conditions: MatchConditions
}

type WebhookConfiguration = KubernetesObject & { readonly webhooks?: readonly ValidatingWebhook[] | undefined }

/** The webhooks that the configurations of a kind name, as they are now. */
export function configuredWebhooks(
  { registries, clients, environment: { clock } }: WebhookParts,
  { storageKey }: StoredKind,
): Configured<readonly ConfiguredWebhook[]> {
  return new Configured(registries, storageKey, (configurations) => {
    const hooks = webhooksOf(configurations, clock)
    clients.retain(hooks.map(({ webhook }) => webhook.clientConfig))
    return hooks
  })
}

/** In order: by the names of configurations, then as they stand there. */
function webhooksOf(configurations: readonly KubernetesObject[], clock: Clock): readonly ConfiguredWebhook[] {
  return configurations.flatMap((each) => {
    const { metadata, webhooks = [] } = each as WebhookConfiguration
    const configuration = metadata.name ?? ''
    return webhooks.map((webhook, index) => ({
      id: `${configuration}/${webhook.name}/${index}`,
      configuration,
      webhook,
      criteria: criteriaOf(webhook),
      conditions: new MatchConditions(webhook.matchConditions ?? [], clock),
    }))
  })
}

function criteriaOf(webhook: ValidatingWebhook): MatchCriteria {
  const { rules = [], matchPolicy, namespaceSelector = {}, objectSelector = {} } = webhook
  return {
    rules,
    exclude: [],
    matchesEquivalent: matchPolicy !== 'Exact',
    namespaces: selectorFromLabelSelector(namespaceSelector),
    objects: selectorFromLabelSelector(objectSelector),
  }
}
