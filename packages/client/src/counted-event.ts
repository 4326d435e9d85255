import { hasReason, type KubernetesObject, type Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Client } from './client.ts'
import { eventName, eventNamespaceOf } from './event-parts.ts'
import type { EventTarget } from './event-recorder.ts'

/** One Event object, and how far the server knows how often it happened. */
export interface CountedEvent {
  readonly about: EventTarget
  name: string
  count: number
  /** The count that the server has; 0 where it has no such Event. */
  storedCount: number
}

/** What is written of it: the changed fields where it is there, the whole object where it is not. */
export interface EventBodies<E extends KubernetesObject> {
  readonly resource: Resource<E>
  readonly raised: object
  readonly made: () => E
}

/** Raises the count of the Event that is there, or creates it: anew where the server has forgotten it. Rejects with the server's refusal. */
export async function storeEvent<E extends KubernetesObject>(
  client: Client,
  environment: Environment,
  event: CountedEvent,
  { resource, raised, made }: EventBodies<E>,
): Promise<void> {
  const { count } = event
  if (event.storedCount > 0) {
    const key = { namespace: eventNamespaceOf(event.about), name: event.name }
    try {
      await client.patch(resource, key, { type: 'merge', body: raised })
      event.storedCount = count
      return
    } catch (error) {
      // The server forgets events after an hour; then it is told anew.
      if (!hasReason(error, 'NotFound')) throw error
      event.storedCount = 0
    }
  }
  try {
    await client.create(resource, made())
    event.storedCount = count
  } catch (error) {
    if (hasReason(error, 'AlreadyExists')) event.name = eventName(event.about, environment)
    throw error
  }
}
