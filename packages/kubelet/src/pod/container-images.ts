import type { Container, Pod } from '@coracle/api'
import type { PresentImage } from '../images/image-puller.ts'
import type { ImageService } from '../runtimes/runtime.ts'
import type { ImageVolumes } from '../volumes/container-mounts.ts'
import { ensureImage } from './ensure-image.ts'
import type { ImageFailure, Tell } from './image-pull.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent, recordPodEvent } from './pod-events.ts'

/** The images of a container that are on the node: its own, and those that it has for volumes. */
export interface ContainerImages {
  readonly present: PresentImage
  readonly volumes: ImageVolumes
}

/**
 * Brings the images that a container needs to the node, as their pull policies say: those of its volumes (https://kep.k8s.io/4639), then its
 * own. Without a failure and without images the pod is ending.
 */
export async function ensureContainerImages(
  context: PodContext,
  images: ImageService,
  pod: Pod,
  container: Container,
  signal: AbortSignal,
): Promise<ContainerImages | { readonly failure: ImageFailure | undefined }> {
  const tell: Tell = (type, reason, message) => recordContainerEvent(context, pod, container, type, reason, message)
  // What becomes of the image of a volume is told of the pod, and that the container does not start of the container.
  const tellOfVolume: Tell = (type, reason, message) =>
    message.startsWith('Error: ') ? tell(type, reason, message) : recordPodEvent(context, pod, type, reason, message)
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name))
  const volumes = new Map<string, { readonly image: string; readonly askedImage: string }>()
  for (const { name, image } of pod.spec.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue
    const { reference = '', pullPolicy } = image
    const asked = { image: reference, ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }) }
    const ensured = await ensureImage(context, images, pod, asked, tellOfVolume, signal)
    if ('failure' in ensured) return ensured
    volumes.set(name, { image: ensured.present.imageRef, askedImage: reference })
  }
  const own = await ensureImage(context, images, pod, container, tell, signal)
  return 'failure' in own ? own : { ...own, volumes }
}
