/** AdmissionReview, what webhooks are asked with and answer with: v1, and v1beta1, of which less is checked, as upstream. */
import { ApiError, compile, jsonFormOf, type KubernetesObject, parseExactJson, type Status } from '@coracle/api'
import type { AdmissionRequest } from '@coracle/api/admission'
import type { VersionedObjects } from '../matching/versioned-objects.ts'
import { type AdmissionResponse, admissionReviewSchema } from './admission-review-schema.ts'

/** What a webhook says. */
export interface ReviewAnswer {
  readonly allowed: boolean
  /** Operations of a JSON patch; undefined where nothing is to change. */
  readonly patch: readonly unknown[] | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** Why the request is refused. */
  readonly result: Partial<Status> | undefined
}

/** The versions of AdmissionReview this server speaks. */
const spoken = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof spoken)[number]

/** The first version of those a webhook understands that this server speaks. Throws an Error where there is none. */
export function reviewVersionOf(understood: readonly string[]): ReviewVersion {
  const version = understood.find((each): each is ReviewVersion => (spoken as readonly string[]).includes(each))
  if (version !== undefined) return version
  throw new Error(
    'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
  )
}

/** What is sent to a webhook. */
export function reviewOf(
  version: ReviewVersion,
  uid: string,
  { operation, userInfo, dryRun, options, ...about }: AdmissionRequest,
  { object = null, oldObject = null }: { readonly [K in keyof VersionedObjects]: VersionedObjects[K] | null },
): object {
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: {
      uid,
      ...about,
      operation,
      userInfo,
      object: formOf(object),
      oldObject: formOf(oldObject),
      dryRun,
      options,
    },
  }
}

const formOf = (object: KubernetesObject | null): unknown => object && jsonFormOf(object)

/**
 * Reads what a webhook answers that may change the object, if it `mutates`. Throws an Error that says what is wrong with it, such as a
 * field of another type.
 */
export function readReview(answer: unknown, version: ReviewVersion, uid: string, mutates: boolean): ReviewAnswer {
  const { apiVersion, kind, response } = decoded(answer)
  if (response === undefined) throw invalid('webhook response was absent')
  if (version === 'v1') checkIdentity(apiVersion, kind, response, uid)
  const { allowed = false, patch = '', patchType, warnings = [], auditAnnotations = {}, status } = response
  if (version === 'v1') checkPatchType(patch, patchType, mutates)
  return {
    allowed,
    patch: mutates && patch !== '' ? operationsOf(patch, version === 'v1' ? patchType : 'JSONPatch') : undefined,
    warnings,
    auditAnnotations,
    result: status as Partial<Status> | undefined,
  }
}

function decoded(answer: unknown) {
  try {
    return compile(admissionReviewSchema).decode(answer, { kind: '', version: '' }).value
  } catch (error) {
    throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
  }
}

const invalid = (why: string): Error => new Error(`received invalid webhook response: ${why}`)

function checkIdentity(apiVersion = '', kind = '', response: AdmissionResponse, uid: string): void {
  const given = response.uid ?? ''
  if (given !== uid) throw invalid(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`)
  const group = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  if (`${group}, Kind=${kind}` === 'admission.k8s.io/v1, Kind=AdmissionReview') return
  throw invalid(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${group}, Kind=${kind}`)
}

function checkPatchType(patch: string, patchType: string | undefined, mutates: boolean): void {
  if (!mutates) {
    if (patch !== '') throw invalid('validating webhook may not return response.patch')
    if (patchType !== undefined) throw invalid('validating webhook may not return response.patchType')
    return
  }
  if (patch !== '' && patchType === undefined) {
    throw invalid('webhook returned response.patch but not response.patchType')
  }
  if (patch === '' && patchType !== undefined) {
    throw invalid('webhook returned response.patchType but not response.patch')
  }
  if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""')
}

/** The operations of a patch; none where there are none. */
function operationsOf(patch: string, patchType: unknown): readonly unknown[] | undefined {
  const refuse = (why: string) => new Error(`received undecodable patch in webhook response: ${why}`)
  let operations: unknown
  try {
    operations = parseExactJson(Buffer.from(patch, 'base64').toString())
  } catch (error) {
    throw refuse((error as Error).message)
  }
  if (!Array.isArray(operations)) throw refuse('it must be a list of operations')
  if (operations.length === 0) return undefined
  if (patchType !== 'JSONPatch') throw new Error(`unsupported patch type ${JSON.stringify(patchType)}`)
  return operations
}

/** The refusal of a request by a webhook, with whatever reason and code it gives: those of an error, in any case. */
export function denial(
  webhook: string,
  { code = 0, reason = '', message = '', details }: Partial<Status> = {},
): ApiError {
  const refusal = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const why = message === '' ? reason : message
  const text = why === '' ? `${refusal} without explanation` : `${refusal}: ${why}`
  return new ApiError(code >= 400 && code <= 599 ? code : 400, reason, text, details)
}
