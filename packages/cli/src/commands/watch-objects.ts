import {
  ApiError,
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
import type { ListOptions } from '@coracle/client'
import type { Host } from '../host.ts'
import { serialize } from '../output/serialize.ts'
import { TablePrinter, type TableStyle } from '../output/table-printer.ts'
import { fetchTable } from '../resources/fetch.ts'
import { objectText } from '../resources/object-text.ts'
import type { Selection } from '../resources/select-objects.ts'
import type { Session } from '../session.ts'
import { type GetFlags, shown } from './get-flags.ts'

/**
 * Prints what there is, then each change as it comes, until the process is interrupted. A watch that the server ends
 * is taken up where it was.
 */
export async function watchObjects(
  host: Host,
  session: Session,
  selection: Selection,
  options: ListOptions,
  flags: GetFlags,
  style: TableStyle,
): Promise<void> {
  const print = printerOf(host, selection.resource, flags, style)
  // A name that is not there is an error, and not an empty list to wait on.
  if (selection.name !== undefined) await fetchTable(session, selection, options)
  const list = await session.client.list(selection.resource, options)
  await print(list.items)
  let version = list.metadata.resourceVersion ?? ''
  for (;;) {
    const watch = await session.client.watch(selection.resource, {
      ...options,
      resourceVersion: version,
      allowWatchBookmarks: true,
    })
    for await (const event of watch) {
      if (event.type === 'ERROR') throw ApiError.from(event.object)
      version = event.object.metadata.resourceVersion ?? version
      if (event.type !== 'BOOKMARK') await print([event.object])
      await host.stdout.drained()
    }
  }
}

type Print = (objects: readonly KubernetesObject[]) => Promise<void>

function printerOf(host: Host, resource: Resource, flags: GetFlags, style: TableStyle): Print {
  switch (flags.output) {
    case 'json':
    case 'yaml': {
      const format = flags.output
      return async (objects) => {
        for (const object of objects) {
          const text = await serialize(shown(object, flags), format)
          host.stdout.write(format === 'yaml' ? `---\n${text}` : text)
        }
      }
    }
    case 'name':
      return async (objects) => {
        for (const { metadata } of objects) host.stdout.write(`${objectText(resource, metadata.name ?? '')}\n`)
      }
    default: {
      const printer = new TablePrinter(style)
      const drawing = drawingOf(resource)
      return async (objects) => {
        const rows = objects.map((object) => drawing.row(object, host.environment.clock.now()))
        if (rows.length > 0) host.stdout.write(printer.print({ columnDefinitions: drawing.columns, rows }))
      }
    }
  }
}

interface Drawing {
  readonly columns: readonly TableColumnDefinition[]
  row(object: KubernetesObject, nowMs: number): TableRow
}

/** How rows are drawn here: as the server draws them where the kind is built in, or else as name and age. */
function drawingOf({ group, version, plural }: Resource): Drawing {
  const definition = builtinResources.find(
    (each) => each.group === group && each.version === version && each.plural === plural,
  )
  if (definition === undefined) return nameAndAge
  return {
    columns: columnDefinitions(definition),
    row: (object, nowMs) => tableRow(definition, object, nowMs, 'Metadata'),
  }
}

const nameAndAge: Drawing = {
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
