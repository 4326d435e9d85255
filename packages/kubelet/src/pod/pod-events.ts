import type { Container, Pod } from '@coracle/api'
import type { EventType } from '@coracle/client'
import type { PodContext } from './pod-context.ts'

/** Records an event about one container of a pod, which its `fieldPath` names. */
export function recordContainerEvent(
  { recorder }: PodContext,
  pod: Pod,
  container: Pick<Container, 'name'>,
  type: EventType,
  reason: string,
  message: string,
): void {
  const lists = ['initContainers', 'ephemeralContainers'] as const
  const list = lists.find((each) => pod.spec[each]?.some(({ name }) => name === container.name)) ?? 'containers'
  recorder?.event(pod, type, reason, message, { fieldPath: `spec.${list}{${container.name}}` })
}

/** Records an event about a pod as a whole. */
export function recordPodEvent(
  { recorder }: PodContext,
  pod: Pod,
  type: EventType,
  reason: string,
  message: string,
): void {
  recorder?.event(pod, type, reason, message)
}
