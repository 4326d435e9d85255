import type { Pod } from '@coracle/api'

/** `name_namespace(uid)`: how the node agent names a pod in messages (upstream's format.Pod). */
export function podText(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`
}

/** `namespace/name`, for log lines. */
export function podKey(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`
}

export function podUidOf(pod: Pod): string {
  return pod.metadata.uid ?? ''
}
