import type { Resource } from '@coracle/api'
import type { Logger } from '@coracle/environment'
import type { AdmissionWebhookOptions } from './admission-webhook.ts'

/** What an API server asks a program over HTTPS. Made by `mutatingWebhook`, `validatingWebhook` and `conversionWebhook`. */
export interface Webhook {
  /** Where it is asked: `/validate-website`. */
  readonly path: string
  /** What of a WebhookConfiguration follows from it; undefined for conversions, which a definition names. */
  readonly admission?: {
    readonly type: 'mutating' | 'validating'
    readonly resource: Resource
    readonly options: AdmissionWebhookOptions
  }
  /** Answers a review, as parsed JSON, with a review. A TypeError says what is wrong with what was asked. */
  answer(review: unknown, context: WebhookContext): Promise<object>
}

export interface WebhookContext {
  readonly logger: Logger
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}
