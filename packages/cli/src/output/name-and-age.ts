import {
  humanDuration,
  type KubernetesObject,
  parseTime,
  type TableColumnDefinition,
  type TableRow,
} from '@coracle/api'

/** How objects of one kind are drawn as rows of a table here, where no server draws them. */
export interface Drawing {
  readonly columns: readonly TableColumnDefinition[]
  row(object: KubernetesObject, nowMs: number): TableRow
}

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
