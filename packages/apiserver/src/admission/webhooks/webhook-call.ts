import { ApiError, badRequest, internalError, type KubernetesObject, type ResourceDefinition } from '@coracle/api'
import type { AdmissionRequest } from '@coracle/api/admission'
import type { Environment } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import type { Authorizer } from '../../request.ts'
import type { WorkTurns } from '../../work-turns.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { admissionRequest } from '../matching/admission-request.ts'
import { conditionFailed } from '../matching/conditions.ts'
import { selectorsMatch, versionWanted } from '../matching/criteria.ts'
import { expressionAuthorizer } from '../matching/expression-authorizer.ts'
import type { RequestObjects, VersionedObjects } from '../matching/versioned-objects.ts'
import { denial, type ReviewAnswer, readReview, reviewOf, reviewVersionOf } from './admission-review.ts'
import type { ConfiguredWebhook } from './configured-webhooks.ts'
import type { WebhookClients } from './webhook-clients.ts'

/** What asking webhooks takes. */
export interface WebhookParts {
  readonly registries: Registries
  readonly environment: Environment
  readonly authorizer: Authorizer
  readonly clients: WebhookClients
  readonly turns: WorkTurns
}

/** A webhook that is to be asked about a request. */
export interface WebhookCall {
  readonly hook: ConfiguredWebhook
  /** The version that the objects are sent in. */
  readonly version: ResourceDefinition
  readonly request: AdmissionRequest
  readonly objects: VersionedObjects
}

/** A webhook that could not be asked, or did not answer as it should. What that means its failure policy says. */
export class WebhookFailure extends Error {
  override readonly name = 'WebhookFailure'

  constructor(webhook: string, why: string) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`)
  }
}

/**
 * How a webhook is to be asked about a request; undefined where it is not. Throws where that cannot be found out. `object` is
 * what selectors look at.
 */
export async function callFor(
  { registries, authorizer, turns }: WebhookParts,
  hook: ConfiguredWebhook,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  objects: RequestObjects,
): Promise<WebhookCall | undefined> {
  const { criteria, conditions, webhook } = hook
  const version = versionWanted(criteria, attributes)
  if (version === undefined || !selectorsMatch(criteria, attributes, object, registries)) return undefined
  const request = admissionRequest(attributes, version)
  const call = { hook, version, request, objects: await objects.in(version) }
  if (conditions.isEmpty) return call
  const rights = expressionAuthorizer(authorizer, registries, attributes.context.user)
  const judged = await conditions.judge({ request, ...call.objects, authorizer: rights }, turns)
  if ('matches' in judged) return judged.matches ? call : undefined
  if (webhook.failurePolicy === 'Ignore') return undefined
  throw conditionFailed(attributes, judged.error)
}

/** Asks a webhook. Throws its refusal, or a WebhookFailure. What it says beside that is passed on. */
export async function ask(
  { clients, environment }: WebhookParts,
  { hook, request, objects }: WebhookCall,
  attributes: AdmissionAttributes,
  mutates: boolean,
): Promise<ReviewAnswer> {
  const { name, clientConfig, timeoutSeconds = 10, sideEffects, admissionReviewVersions } = hook.webhook
  if (attributes.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
  }
  const { context } = attributes
  const { leftMs = () => Number.POSITIVE_INFINITY } = context
  if (leftMs() <= 0) throw requestTimedOut()
  const answer = await failingAs(name, async () => {
    const reviewVersion = reviewVersionOf(admissionReviewVersions)
    const uid = environment.random.uuid()
    const client = await clients.of(clientConfig)
    const review = reviewOf(reviewVersion, uid, request, objects)
    const given = await client.post(review, Math.min(timeoutSeconds * 1000, leftMs())).catch((error: Error) => {
      throw new Error(`failed to call webhook: ${error.message}`, { cause: error })
    })
    return readReview(given, reviewVersion, uid, mutates)
  })
  for (const [key, value] of Object.entries(answer.auditAnnotations)) context.annotate?.(`${name}/${key}`, value)
  for (const warning of answer.warnings) context.warn?.(warning)
  if (!answer.allowed) throw denial(name, answer.result)
  return answer
}

async function failingAs<T>(webhook: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw new WebhookFailure(webhook, (error as Error).message)
  }
}

const requestTimedOut = (): ApiError =>
  new ApiError(504, 'Timeout', 'Timeout: request did not complete within requested timeout', {})

/**
 * What becomes of a request when asking a webhook throws: nothing, where only asking failed and that is to be ignored. Where nobody
 * waits for the request any more it ends, as upstream.
 */
export function failed(
  { environment }: WebhookParts,
  { webhook, configuration }: ConfiguredWebhook,
  { context }: AdmissionAttributes,
  error: unknown,
): void {
  if (!(error instanceof WebhookFailure)) throw error
  if (webhook.failurePolicy === 'Ignore' && (context.leftMs?.() ?? 1) <= 0) throw requestTimedOut()
  const about = { webhook: webhook.name, configuration, error: error.message }
  if (webhook.failurePolicy !== 'Ignore') {
    environment.logger.warn('a webhook could not be asked, so a request was refused', about)
    throw internalError(error.message)
  }
  environment.logger.warn('a webhook could not be asked, and a request went on without it', about)
}
