import { type Container, durationText, type Pod, type Secret } from '@coracle/api'
import {
  isToBePulled,
  type PresentImage,
  type Pulled,
  pullerOf,
  pullSecretsOf,
  withTag,
} from '../images/image-puller.ts'
import { pullRecordsOf } from '../images/pull-records.ts'
import { credentialsFor } from '../images/registry-credentials.ts'
import { type Image, ImagePullError, type ImageService } from '../runtimes/runtime.ts'
import { type ImageFailure, imagePullFailure, presentText, type Tell, tellPulling } from './image-pull.ts'
import type { PodContext } from './pod-context.ts'

/** An image is on the node, or why it is not. */
export type EnsuredImage = { readonly present: PresentImage } | { readonly failure: ImageFailure | undefined }

/** An image that is needed, and when it is pulled. */
export type AskedImage = Pick<Container, 'image' | 'imagePullPolicy'>

/**
 * Brings an image that a pod needs to the node as its pull policy says, and tells of it as upstream does. Without a failure and without an
 * image the pod is ending, and needs none.
 */
export async function ensureImage(
  context: PodContext,
  images: ImageService,
  pod: Pod,
  asked: AskedImage,
  tell: Tell,
  signal: AbortSignal,
): Promise<EnsuredImage> {
  const { image: name = '' } = asked
  let found: Image | undefined
  try {
    found = await images.status(withTag(name))
  } catch (error) {
    const message = `Failed to inspect image ${JSON.stringify(name)}: ${error instanceof Error ? error.message : error}`
    tell('Warning', 'InspectFailed', message)
    return { failure: { reason: 'ImageInspectError', message } }
  }
  if (isToBePulled(asked, found !== undefined)) return pull(context, images, pod, name, tell, signal)
  const isForPod = found !== undefined && (await mayUse(context, images, pod, name, found))
  // Whoever may not use it is not told that it is there.
  if (found !== undefined && !isForPod && asked.imagePullPolicy !== 'Never')
    return pull(context, images, pod, name, tell, signal)
  if (found !== undefined && isForPod) {
    tell('Normal', 'Pulled', presentText(name))
    return { present: { imageRef: found.id, image: found } }
  }
  const message = `Container image ${JSON.stringify(name)} is not present with pull policy of Never`
  tell('Warning', 'ErrImageNeverPull', message)
  tell('Warning', 'Failed', 'Error: ErrImageNeverPull')
  return { failure: { reason: 'ErrImageNeverPull', message } }
}

/** Whether a pod may use an image that is on the node: it was to be had without a secret, or with one that the pod has, too. */
async function mayUse(
  { sources }: PodContext,
  images: ImageService,
  pod: Pod,
  name: string,
  { id }: Image,
): Promise<boolean> {
  const secrets = async () => credentialsFor(name, await pullSecretsOf(pod, sources.secret)).map(({ source }) => source)
  return (await pullRecordsOf(images)?.mayUse(withTag(name), id, secrets)) ?? true
}

async function pull(
  context: PodContext,
  images: ImageService,
  pod: Pod,
  name: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<EnsuredImage> {
  tellPulling(tell, name)
  try {
    const secrets = await pullSecretsOf(pod, context.sources.secret)
    const pulled = await pullRecorded(context, images, withTag(name), secrets, signal)
    const { imageRef, tookMs, tookInAllMs, sizeBytes } = pulled
    context.metrics?.()?.imagePulled(sizeBytes, tookInAllMs)
    const times = `${durationText(Math.floor(tookMs))} (${durationText(Math.floor(tookInAllMs))} including waiting)`
    const message = `Successfully pulled image ${JSON.stringify(name)} in ${times}. Image size: ${sizeBytes} bytes.`
    tell('Normal', 'Pulled', message)
    return { present: { imageRef, image: await images.status(imageRef) } }
  } catch (error) {
    if (signal.aborted) return { failure: undefined }
    if (!(error instanceof ImagePullError)) throw error
    return { failure: imagePullFailure(tell, name, error) }
  }
}

/** Pulls an image, and keeps with which secret: until that is known nobody may use it without asking its registry. */
async function pullRecorded(
  { environment }: PodContext,
  images: ImageService,
  image: string,
  secrets: readonly Secret[],
  signal: AbortSignal,
): Promise<Pulled> {
  const records = pullRecordsOf(images)
  await records?.begins(image).catch((error: Error) => {
    throw new ImagePullError(`failed to record image pull intent: ${error.message}`)
  })
  let pulled: Pulled | undefined
  try {
    pulled = await pullerOf(images, environment.clock).pull(image, secrets, signal)
    await records?.pulled(image, pulled.imageRef, pulled.secret)
  } catch (error) {
    if (pulled !== undefined) {
      environment.logger.warn('it could not be kept by whom an image was pulled', { image, error })
      return pulled
    }
    await records?.ends(image).catch(() => {})
    throw error
  }
  await records?.ends(image).catch(() => {})
  return pulled
}
