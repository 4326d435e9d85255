import {
  builtinResources,
  columnDefinitions,
  type KubernetesObject,
  type Resource,
  type TableColumnDefinition,
  type TableRow,
  tableRow,
} from '@coracle/api'
import { nameAndAge } from './name-and-age.ts'

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
