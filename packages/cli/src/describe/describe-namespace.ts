import type { Namespace } from '@coracle/api'
import { Description } from './description.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

/** A namespace in detail. */
export function describeNamespace({ metadata, status }: Namespace): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.field(0, 'Status', status?.phase ?? '')
  const conditions = status?.conditions ?? []
  if (conditions.length > 0) {
    const rows = conditions.map((each) => [
      each.type,
      each.status,
      each.lastTransitionTime ?? '',
      each.reason ?? '',
      each.message ?? '',
    ])
    text.table(0, 'Conditions', ['Type', 'Status', 'LastTransitionTime', 'Reason', 'Message'], rows)
  }
  return text.toString()
}
