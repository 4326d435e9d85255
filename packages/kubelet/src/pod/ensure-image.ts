import { type Container, durationText, type Pod } from '@coracle/api'
import { isToBePulled, type PresentImage, pullerOf, pullSecretsOf, withTag } from '../images/image-puller.ts'
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
  if (found !== undefined) {
    tell('Normal', 'Pulled', presentText(name))
    return { present: { imageRef: found.id, image: found } }
  }
  const message = `Container image ${JSON.stringify(name)} is not present with pull policy of Never`
  tell('Warning', 'ErrImageNeverPull', message)
  tell('Warning', 'Failed', 'Error: ErrImageNeverPull')
  return { failure: { reason: 'ErrImageNeverPull', message } }
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
    const pulled = await pullerOf(images, context.environment.clock).pull(withTag(name), secrets, signal)
    const { imageRef, tookMs, tookInAllMs, sizeBytes } = pulled
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
