import type { Event, JsonObject, KubernetesObject } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeFields } from './fields.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

/** An object of any kind in detail, as kubectl describes those it knows nothing about. */
export function describeObject(object: KubernetesObject, events: readonly Event[] | undefined, nowMs: number): string {
  const { name, namespace, labels, annotations, managedFields: _, ...metadata } = object.metadata
  const text = new Description()
  text.field(0, 'Name', name ?? '').field(0, 'Namespace', namespace ?? '')
  describeLabels(text, 0, 'Labels', labels)
  describeAnnotations(text, 0, annotations)
  describeFields(text, 0, { ...object, metadata } as JsonObject)
  describeEvents(text, events, nowMs)
  return text.toString()
}
