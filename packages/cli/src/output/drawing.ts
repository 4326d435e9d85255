import { builtinResources, columnDefinitions, type Resource, tableRow } from '@coracle/api'
import { type Drawing, nameAndAge } from './name-and-age.ts'

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
