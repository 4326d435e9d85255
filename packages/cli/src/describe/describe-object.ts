import type { Event, JsonObject, KubernetesObject } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeFields } from './fields.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

/** Members of the metadata that stand at the top already, or say nothing to people. */
const metadataSkipped = new Set(['name', 'namespace', 'labels', 'annotations', 'managedFields', 'selfLink'])
const topSkipped = new Set(['apiVersion', 'kind', 'metadata'])

/** An object of any kind in detail, as kubectl describes those it knows nothing about. */
export function describeObject(object: KubernetesObject, events: readonly Event[] | undefined, nowMs: number): string {
  const { apiVersion, kind, metadata } = object
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.field(0, 'API Version', apiVersion).field(0, 'Kind', kind).heading(0, 'Metadata')
  describeFields(text, 1, metadata as unknown as JsonObject, metadataSkipped)
  describeFields(text, 0, object as unknown as JsonObject, topSkipped)
  describeEvents(text, events, nowMs)
  return text.toString()
}
