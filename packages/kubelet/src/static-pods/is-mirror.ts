import type { Pod } from '@coracle/api'

/** What upstream's kubelet marks such pods with, and the API's copies of them. */
export const staticAnnotations = {
  /** On the copy: which static pod it is of. */
  mirror: 'kubernetes.io/config.mirror',
  /** Which text the pod is from. */
  hash: 'kubernetes.io/config.hash',
  source: 'kubernetes.io/config.source',
  seen: 'kubernetes.io/config.seen',
} as const

/** What upstream's kubelet takes a pod to be from that does not say. */
const fromServer = 'api'

/** Whether a pod of the API is the copy of one that a node was given in another way. */
export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[staticAnnotations.mirror] !== undefined

/** Whether a pod, as its node runs it, was not given to it by the API. */
export const isStatic = ({ metadata }: Pod): boolean =>
  (metadata.annotations?.[staticAnnotations.source] ?? fromServer) !== fromServer
