import type { Event, ServiceAccount } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

/** A ServiceAccount in detail. Events are absent where they are not wanted. */
export function describeServiceAccount(
  { metadata, imagePullSecrets = [] }: ServiceAccount,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.lines(
    0,
    'Image pull secrets',
    imagePullSecrets.map(({ name }) => name ?? ''),
  )
  describeEvents(text, events, nowMs)
  return text.toString()
}
