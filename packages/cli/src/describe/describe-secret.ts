import type { Secret } from '@coracle/api'
import { Description } from './description.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

/** A Secret in detail. Its values are not for the screen: their sizes are. */
export function describeSecret({ metadata, type, data = {} }: Secret): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text
    .line(0, '')
    .field(0, 'Type', type ?? '')
    .line(0, '')
    .line(0, 'Data')
    .line(0, '====')
  for (const key of Object.keys(data).sort()) {
    text.field(0, key, `${Buffer.from(data[key] ?? '', 'base64').length} bytes`)
  }
  return text.toString()
}
