import type { Container } from '@coracle/api'
import type { EventType } from '@coracle/client'
import type { ImagePullError } from '../runtimes/runtime.ts'
import type { WaitingReason } from '../status/container-statuses.ts'
import { backOffInitialMs, backOffMaxMs } from './back-off.ts'
import { imageNameProblem } from './image-name.ts'
import type { StartFailure } from './plan-pod.ts'

const pullFailed = 'ErrImagePull'
/** What runtimes say first where they know more (errors of CRI), and what that means: these are reasons, too. */
const knownProblems = {
  RegistryUnavailable: 'the registry is unavailable',
  SignatureValidationFailed: 'the signature validation failed',
} as const

/** Why an image of this name cannot be asked for, as upstream tells it; undefined where it can. */
export function invalidImageName(image: string | undefined): WaitingReason | undefined {
  const problem = image === undefined ? undefined : imageNameProblem(image)
  if (problem === undefined) return undefined
  const name = JSON.stringify(image)
  return {
    reason: 'InvalidImageName',
    message: `Failed to apply default image tag ${name}: couldn't parse image name ${name}: ${problem}`,
  }
}

/** Records an event of whoever needs an image: a container, or a pod for its volumes. */
export type Tell = (type: EventType, reason: string, message: string) => void

/** What is told of an image that is there already. */
export const presentText = (name: string): string =>
  `Container image ${JSON.stringify(name)} already present on machine and can be accessed by the pod`

/** Tells that an image is asked for. */
export const tellPulling = (tell: Tell, image: string): void =>
  tell('Normal', 'Pulling', `Pulling image ${JSON.stringify(image)}`)

/** Tells of an image that was asked for and cannot be had, as upstream does. */
export function imagePullFailure(tell: Tell, image: string, { message }: ImagePullError): ImageFailure {
  const name = JSON.stringify(image)
  const problem = problemOf(image, message)
  tell('Warning', 'Failed', `Failed to pull image ${name}: ${message}`)
  tell('Warning', 'Failed', `Error: ${problem.reason}`)
  tell('Normal', 'BackOff', `Back-off pulling image ${name}`)
  tell('Warning', 'Failed', 'Error: ImagePullBackOff')
  return { ...problem, missing: image }
}

function problemOf(image: string, message: string): WaitingReason {
  for (const [reason, why] of Object.entries(knownProblems)) {
    if (!message.startsWith(reason)) continue
    return { reason, message: `image pull failed for ${image} because ${why}${message.slice(reason.length)}` }
  }
  return { reason: pullFailed, message }
}

/** Why a container does not start for want of an image: its own, or that of a volume. */
export interface ImageFailure extends WaitingReason {
  /** The image that was asked for and cannot be had. */
  readonly missing?: string
}

/**
 * When an image that could not be had is tried again: after 10 s, twice as long each time, up to 5 min. Undefined for other
 * failures. Upstream shows ErrImagePull until it looks at the pod again, which is at once here.
 */
export function imagePullBackOff(
  { image }: Container,
  failure: ImageFailure,
  before: StartFailure | undefined,
  nowMs: number,
): StartFailure | undefined {
  if (failure.missing === undefined) return undefined
  const lastMs = before?.image === image ? (before?.delayMs ?? 0) : 0
  const delayMs = Math.min(backOffMaxMs, Math.max(backOffInitialMs, 2 * lastMs))
  return {
    reason: 'ImagePullBackOff',
    message: `Back-off pulling image ${JSON.stringify(failure.missing ?? image ?? '')}: ${failure.reason}: ${failure.message ?? ''}`,
    retryAtMs: nowMs + delayMs,
    delayMs,
    ...(image === undefined ? {} : { image }),
  }
}
