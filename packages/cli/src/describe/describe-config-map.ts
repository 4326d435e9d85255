import type { ConfigMap, Event } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

/** A ConfigMap in detail: its text as it is, and how large what is no text is. */
export function describeConfigMap(map: ConfigMap, events: readonly Event[] | undefined, nowMs: number): string {
  const { metadata, data = {}, binaryData = {} } = map
  const text = new Description()
  describeIdentity(text, metadata)
  text.line(0, '').line(0, 'Data').line(0, '====')
  for (const key of Object.keys(data).sort()) {
    text
      .heading(0, key)
      .line(0, '----')
      .line(0, data[key] ?? '')
      .line(0, '')
  }
  text.line(0, '').line(0, 'BinaryData').line(0, '====')
  for (const key of Object.keys(binaryData).sort()) {
    text.line(0, `${key}: ${Buffer.from(binaryData[key] ?? '', 'base64').length} bytes`)
  }
  text.line(0, '')
  describeEvents(text, events, nowMs)
  return text.toString()
}
