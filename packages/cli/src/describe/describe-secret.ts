import type { Secret } from '@coracle/api'
import { Description } from './description.ts'
import { describeIdentity } from './metadata.ts'

/** A Secret in detail. Its values are not for the screen: their sizes are. As in kubectl the token of an account is what one looks for. */
export function describeSecret({ metadata, type, data = {} }: Secret): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text
    .line(0, '')
    .field(0, 'Type', type ?? '')
    .line(0, '')
    .line(0, 'Data')
    .line(0, '====')
  for (const key of Object.keys(data).sort()) {
    const value = Buffer.from(data[key] ?? '', 'base64')
    const isToken = key === 'token' && type === 'kubernetes.io/service-account-token'
    text.field(0, key, isToken ? value.toString() : `${value.length} bytes`)
  }
  return text.toString()
}
