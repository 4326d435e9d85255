import { humanDuration, type KubernetesObject, parseTime, type Table, type TableColumnDefinition } from '@coracle/api'

const columnDefinitions: readonly TableColumnDefinition[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
]

/** Names and ages, whatever the kind: for objects that no server draws. */
export function nameAndAge(
  objects: readonly KubernetesObject[],
  nowMs: number,
): Pick<Table, 'columnDefinitions' | 'rows'> {
  const rows = objects.map((object) => ({ cells: [object.metadata.name ?? '', ageText(object, nowMs)], object }))
  return { columnDefinitions, rows }
}

function ageText({ metadata }: KubernetesObject, nowMs: number): string {
  const { creationTimestamp } = metadata
  return creationTimestamp === undefined ? '<unknown>' : humanDuration(nowMs - parseTime(creationTimestamp))
}
