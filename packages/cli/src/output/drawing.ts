import {
  builtinResources,
  columnDefinitions,
  humanDuration,
  type KubernetesObject,
  parseTime,
  type Resource,
  type TableColumnDefinition,
  type TableRow,
  tableRow,
} from '@coracle/api'

/** How objects of one kind are drawn as rows of a table here, where no server draws them. */
export interface Drawing {
  readonly columns: readonly TableColumnDefinition[]
  row(object: KubernetesObject, nowMs: number): TableRow
}

/** As the server draws them where the kind is built in, or else as name and age. */
export function drawingOf({ group, version, plural }: Resource): Drawing {
  const definition = builtinResources.find(
    (each) => each.group === group && each.version === version && each.plural === plural,
  )
  if (definition === undefined) return nameAndAge
  return {
    columns: columnDefinitions(definition),
    row: (object, nowMs) => tableRow(definition, object, nowMs, 'Metadata'),
  }
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
