import { humanDuration, type KubernetesObject, parseTime } from '@coracle/api'
import type { Drawing } from './drawing.ts'

/** Names and ages, whatever the kind. */
export const nameAndAge: Drawing = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
    { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
  ],
  row: (object, nowMs) => ({
    cells: [object.metadata.name ?? '', ageText(object, nowMs)],
    object,
  }),
}

function ageText({ metadata }: KubernetesObject, nowMs: number): string {
  const { creationTimestamp } = metadata
  return creationTimestamp === undefined ? '<unknown>' : humanDuration(nowMs - parseTime(creationTimestamp))
}
