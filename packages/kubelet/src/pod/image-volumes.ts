import type { Container, Pod } from '@coracle/api'
import type { ImageService } from '../runtimes/runtime.ts'
import type { ImageVolumes } from '../volumes/container-mounts.ts'
import { ensureImage } from './ensure-image.ts'
import type { ImageFailure, Tell } from './image-pull.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent, recordPodEvent } from './pod-events.ts'

/**
 * Brings the images to the node that a container has for volumes, as their pull policies say. Without a failure and without
 * volumes the pod is ending (https://kep.k8s.io/4639).
 */
export async function ensureImageVolumes(
  context: PodContext,
  images: ImageService,
  pod: Pod,
  container: Container,
  signal: AbortSignal,
): Promise<{ readonly volumes: ImageVolumes } | { readonly failure: ImageFailure | undefined }> {
  // What becomes of an image is told of the pod, and that the container does not start of the container.
  const tell: Tell = (type, reason, message) =>
    message.startsWith('Error: ')
      ? recordContainerEvent(context, pod, container, type, reason, message)
      : recordPodEvent(context, pod, type, reason, message)
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name))
  const found = new Map<string, { readonly image: string; readonly askedImage: string }>()
  for (const { name, image } of pod.spec.volumes ?? []) {
    if (image === undefined || !mounted.has(name)) continue
    const { reference = '', pullPolicy } = image
    const asked = { image: reference, ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }) }
    const ensured = await ensureImage(context, images, pod, asked, tell, signal)
    if ('failure' in ensured) return ensured
    found.set(name, { image: ensured.present.imageRef, askedImage: reference })
  }
  return { volumes: found }
}
