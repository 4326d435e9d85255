/** What both forms of events have in common. */
import { checkName, eventMessageMax } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { EventTarget } from './event-recorder.ts'

/** Events about objects without a namespace are kept in `default`. */
export const eventNamespaceOf = (about: EventTarget): string => about.metadata.namespace || 'default'

/**
 * Upstream's `<object>.<nanoseconds in hexadecimal>`. What a clock does not resolve is drawn, so that names differ. Where the object's name
 * is too long for that, or is none that an Event may have, as `system:node`, a UUID.
 */
export function eventName(about: EventTarget, { clock, random }: Environment): string {
  const nanoseconds = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random.next() * 1_000_000))
  const name = `${about.metadata.name ?? ''}.${nanoseconds.toString(16)}`
  return checkName('dns1123-subdomain', name).length === 0 ? name : random.uuid()
}

/** Names an object, or a part of it, in an event. */
export function referenceTo(
  { apiVersion, kind, metadata }: EventTarget,
  fieldPath?: string,
): Readonly<Record<string, string>> {
  const { namespace, name, uid, resourceVersion } = metadata
  const parts = { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath }
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined && part[1] !== ''),
  )
}

/** A message as long as the server takes it. */
export function shorten(message: string): string {
  return message.length <= eventMessageMax ? message : `${message.slice(0, eventMessageMax - 3)}...`
}

/** Tells an object from all others. */
export function identityText({ apiVersion, kind, metadata }: EventTarget): string {
  const { namespace = '', name = '', uid = '' } = metadata
  return [apiVersion, kind, namespace, name, uid].join('\n')
}
