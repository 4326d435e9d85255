import {
  type Pod,
  validateEphemeralContainersUpdate,
  validatePodResize,
  withEphemeralContainers,
  withResizedContainers,
} from '@coracle/api'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { objectPart } from './object-part.ts'
import type { Subresource } from './subresource.ts'

/** `pods/ephemeralcontainers`: the pod, of which only containers to look around with may be added. */
export const ephemeralContainersSubresource = (registry: ResourceRegistry): Subresource =>
  objectPart<Pod>(registry, {
    subresource: 'ephemeralcontainers',
    makesGenerations: true,
    withPart: withEphemeralContainers,
    validate: validateEphemeralContainersUpdate,
  })

/** `pods/resize`: the pod, of which only what its containers have of CPU and memory may be changed. */
export const resizeSubresource = (registry: ResourceRegistry): Subresource =>
  objectPart<Pod>(registry, {
    subresource: 'resize',
    makesGenerations: true,
    withPart: withResizedContainers,
    validate: validatePodResize,
  })
