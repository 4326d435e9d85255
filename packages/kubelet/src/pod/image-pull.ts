import type { Container, Pod } from '@coracle/api'
import type { ImagePullError } from '../runtimes/runtime.ts'
import type { WaitingReason } from '../status/container-statuses.ts'
import { backOffInitialMs, backOffMaxMs } from './back-off.ts'
import { imageNameProblem } from './image-name.ts'
import type { StartFailure } from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent } from './pod-events.ts'

const pullFailed = 'ErrImagePull'

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

/** Tells that an image is asked for. */
export function tellPulling(context: PodContext, pod: Pod, container: Container): void {
  const text = `Pulling image ${JSON.stringify(container.image ?? '')}`
  recordContainerEvent(context, pod, container, 'Normal', 'Pulling', text)
}

/** Tells of an image that was asked for and cannot be had, as upstream does. */
export function imagePullFailure(
  context: PodContext,
  pod: Pod,
  container: Container,
  { message }: ImagePullError,
): WaitingReason {
  const image = JSON.stringify(container.image ?? '')
  const tell = (type: 'Normal' | 'Warning', reason: string, text: string) =>
    recordContainerEvent(context, pod, container, type, reason, text)
  tell('Warning', 'Failed', `Failed to pull image ${image}: ${message}`)
  tell('Warning', 'Failed', `Error: ${pullFailed}`)
  tell('Normal', 'BackOff', `Back-off pulling image ${image}`)
  tell('Warning', 'Failed', 'Error: ImagePullBackOff')
  return { reason: pullFailed, message }
}

/**
 * When an image that could not be had is tried again: after 10 s, twice as long each time, up to 5 min. Undefined for other
 * failures. Upstream shows ErrImagePull until it looks at the pod again, which is at once here.
 */
export function imagePullBackOff(
  { image }: Container,
  failure: WaitingReason,
  before: StartFailure | undefined,
  nowMs: number,
): StartFailure | undefined {
  if (failure.reason !== pullFailed) return undefined
  const lastMs = before?.image === image ? (before?.delayMs ?? 0) : 0
  const delayMs = Math.min(backOffMaxMs, Math.max(backOffInitialMs, 2 * lastMs))
  return {
    reason: 'ImagePullBackOff',
    message: `Back-off pulling image ${JSON.stringify(image ?? '')}: ${pullFailed}: ${failure.message ?? ''}`,
    retryAtMs: nowMs + delayMs,
    delayMs,
    ...(image === undefined ? {} : { image }),
  }
}
