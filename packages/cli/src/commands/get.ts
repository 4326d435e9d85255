import { hasReason, type Table } from '@coracle/api'
import { assert } from '@coracle/environment'
import { CliError, ListError, SummaryError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { filesNamed, hasFiles, isOneFile, loadReadable } from '../manifests/load-manifests.ts'
import type { Manifest, ReadManifests } from '../manifests/parse-manifests.ts'
import { completePath } from '../output/custom-columns.ts'
import { nameAndAge } from '../output/name-and-age.ts'
import { type Found, type ObjectFormat, ObjectPrinter } from '../output/object-printer.ts'
import { type OutputFormat, readOutputFormat } from '../output/output-format.ts'
import { sortObjects, sortRows, UnsortableError } from '../output/sort-objects.ts'
import { TablePrinter, type TableStyle } from '../output/table-printer.ts'
import { fetchTable, getNamed, listAll } from '../resources/fetch.ts'
import { kindText } from '../resources/object-text.ts'
import { listOptions, type Selection, selectObjects } from '../resources/select-objects.ts'
import { type Session, withSession } from '../session.ts'
import { refusalOfSelection } from './connection-refusals.ts'
import type { GetFlags } from './get-flags.ts'
import {
  labelFilter,
  selectionOf,
  selectionsOf,
  summariesOf,
  visitManifests,
  withFailures,
} from './manifest-command.ts'
import { checkRawPath } from './raw-request.ts'
import { showObjects, watchObjects } from './watch-objects.ts'

/** `coracle get TYPE [NAME]`, `-f FILE` */
export async function get(host: Host, args: readonly string[], given: GetFlags): Promise<void> {
  checkFlags(args, given)
  // As with kubectl, objects of files are shown as a whole.
  const { subresource: _, ...whole } = given
  const flags = hasFiles(given) ? whole : given
  if (flags.raw !== undefined) return getRaw(host, flags.raw, flags)
  const table = tableFormatOf(flags)
  const isTable = table !== undefined
  const isWatch = flags.watch === true || flags.watchOnly === true
  const read = await loadReadable(host, flags, { args, flattens: !isWatch })
  await withSession(
    host,
    flags,
    async (session) => {
      if (isWatch) return watch(host, session, await watched(host, session, args, read, flags), flags)
      const { selections, refusals, failures } = await selectionsOf(session, args, read, 'get', flags, {
        asTables: isTable && flags.serverPrint,
        ignoresMissing: flags.ignoreNotFound === true,
      })
      const isWhole = !isTable && (await isOneFile(host, flags))
      // Of one file kubectl prints all that is in it, or nothing.
      if (isWhole && refusals.length + failures.length > 0) throw new AggregateError([...refusals, ...failures])
      const told = isTable
        ? summariesOf(failures, true)
        : failures.flatMap((error) => (error instanceof ListError ? error.errors : error))
      // Of several objects kubectl tells what is wrong with the format in place of what is wrong with them.
      const isOne = hasFiles(flags) ? isWhole : isNamed(selections)
      if (!isTable && !isOne && flags.ignoreNotFound !== true) await readObjectFormat(host, flags)
      await withFailures([...refusals, ...told], selections.length === 0 && (isTable || isOne), async () => {
        if (isTable) await printTables(host, session, selections, table, flags)
        else await printObjects(host, session, selections, flags, isOne)
      })
    },
    refusalOfSelection(args, flags),
  )
}

type TableFormat = Extract<OutputFormat, { readonly type: 'table' }>

/** What kind of table is asked for; undefined where it is objects. */
function tableFormatOf({ output = '', template }: GetFlags): TableFormat | undefined {
  if (output === 'wide') return { type: 'table', wide: true }
  return output === '' && !template ? { type: 'table', wide: false } : undefined
}

/** How objects are printed. kubectl reads that once it has them. */
async function readObjectFormat(host: Host, flags: GetFlags): Promise<ObjectFormat> {
  const format = await readOutputFormat(host, flags, { tables: true })
  assert(format !== undefined && format.type !== 'table', 'objects are not printed as a table')
  return format
}

/** Whether one object is meant, by its name. */
const isNamed = (selections: readonly Selection[]): boolean =>
  selections.length === 1 && selections[0]?.name !== undefined

/** Throws a CliError, in kubectl's words, where flags or arguments contradict each other. */
function checkFlags(args: readonly string[], flags: GetFlags): void {
  const { raw, output, subresource } = flags
  const isWatch = flags.watch === true || flags.watchOnly === true
  if (raw !== undefined) {
    if (args.length > 0) throw new CliError('arguments may not be passed when --raw is specified')
    if (isWatch || flags.selector !== undefined) {
      throw new CliError(
        '--raw may not be specified with other flags that filter the server request or alter the output',
      )
    }
    if (output) throw new CliError('--raw and --output are mutually exclusive')
    checkRawPath(raw)
  } else if (args.length === 0 && !hasFiles(flags)) throw new SummaryError(nothingAsked)
  if (flags.showLabels === true && !['', 'wide'].includes(output ?? '')) {
    throw new CliError(`--show-labels option cannot be used with ${output} printer`)
  }
  if (flags.outputWatchEvents === true && !isWatch) {
    throw new CliError('--output-watch-events option can only be used with --watch or --watch-only')
  }
  const isBulk =
    subresource !== undefined && !hasFiles(flags) && !args.some((arg) => arg.includes('/')) && args.length < 2
  if (isBulk) throw new CliError('subresource cannot be used when bulk resources are specified')
}

const nothingAsked = `You must specify the type of resource to get. Use "coracle api-resources" for a complete list of supported resources.

error: Required resource not specified.
Use "coracle explain <resource>" for a detailed description of that resource (e.g. coracle explain pods).
See 'coracle get -h' for help and examples`

/** Prints what is under a path as it comes, such as the changes of a watch. */
async function getRaw(host: Host, path: string, flags: GetFlags): Promise<void> {
  await withSession(host, flags, async ({ client }) => {
    for await (const piece of await client.rawStream(path)) {
      host.stdout.write(piece)
      await host.stdout.drained()
    }
  })
}

/** What is to be watched, and why it cannot be where it is more than one thing. */
interface Watched {
  readonly selections: readonly Selection[]
  readonly refusal: string
}

/** Of files kubectl takes each for one thing to watch, and stops at the first object that it cannot have. */
async function watched(
  host: Host,
  session: Session,
  args: readonly string[],
  read: ReadManifests,
  flags: GetFlags,
): Promise<Watched> {
  const several = 'you may only watch a single resource or type of resource at a time'
  if (!hasFiles(flags)) {
    const selections = selectObjects(args, 'get', await session.catalog(), flags)
    if (new Set(selections.map(({ resource }) => resource)).size > 1) {
      throw new CliError('you may only specify a single resource type')
    }
    return { selections, refusal: several }
  }
  const selections: Selection[] = []
  const isLabelled = labelFilter(flags.selector)
  const isWanted = (manifest: Pick<Manifest, 'object'>): boolean => {
    if (manifest.object.kind.endsWith('List')) {
      throw new CliError(
        'watch is only supported on individual resources and resource collections, but a list of resources is found',
      )
    }
    return isLabelled(manifest)
  }
  await visitManifests(session, read, async (placed) => void selections.push(selectionOf(placed)), isWanted)
  const files = await filesNamed(host, flags)
  const refusal = `watch is only supported on individual resources and resource collections - ${selections.length} resources were found`
  return { selections, refusal: files.length > 1 ? several : refusal }
}

/** A subresource is not watched: kubectl shows and watches the object itself. */
async function watch(
  host: Host,
  session: Session,
  { selections, refusal }: Watched,
  { subresource: _, ...flags }: GetFlags,
): Promise<void> {
  if (flags.sortBy !== undefined) {
    host.stderr.write('warning: --watch requested, --sort-by will be ignored for watch events received\n')
  }
  const [first] = selections
  if (first === undefined) throw new CliError('there is nothing to watch in what was read')
  const table = tableFormatOf(flags)
  const format = table ?? (await watchedFormat(host, session, first, flags))
  const style = tableStyle(table, flags, first, flags.showKind === true)
  if (selections.length === 1) return watchObjects(host, session, { selection: first, format, style, flags })
  await showObjects(host, session, selections, { format, style, flags })
  throw new CliError(refusal)
}

/** How what is watched is printed. That an object is not there is told before what is wrong with that. */
async function watchedFormat(host: Host, session: Session, first: Selection, flags: GetFlags): Promise<ObjectFormat> {
  try {
    return await readObjectFormat(host, flags)
  } catch (error) {
    if (first.name !== undefined) await fetchObjects(session, first, flags)
    throw error
  }
}

/** How the table of a resource looks. Names carry their kind where several kinds are shown. */
function tableStyle(
  format: TableFormat | undefined,
  flags: GetFlags,
  { resource }: Selection,
  isMixed: boolean,
): TableStyle {
  return {
    wide: format?.wide === true,
    headers: flags.headers,
    events: flags.outputWatchEvents === true,
    namespaces: flags.allNamespaces === true && resource.namespaced,
    labels: flags.showLabels === true,
    labelColumns: flags.labelColumns,
    ...(isMixed ? { namePrefix: kindText(resource) } : {}),
  }
}

async function printTables(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  format: TableFormat,
  flags: GetFlags,
): Promise<void> {
  const drawHere = tableDrawnHere(host)
  const draw: typeof drawHere = (session, selection, flags) =>
    flags.serverPrint && selection.unnamed === undefined
      ? tableFor(session, selection, flags)
      : drawHere(session, selection, flags)
  const { sortBy, ...unsorted } = flags
  const drawing = selections.length > 1 && flags.serverPrint ? unsorted : flags
  const { found, errors } = await collect(selections, flags, (selection) => draw(session, selection, drawing))
  if (sortBy !== undefined && flags.serverPrint && found.length > 1) {
    // What is sorted are the tables then, which have no such field.
    throw new CliError(
      `couldn't find any field with path ${JSON.stringify(completePath(sortBy))} in the list of objects`,
    )
  }
  // Where the server draws tables there is one of each type, empty or not.
  const groups = groupByResource(flags.serverPrint ? found : found.filter(({ result }) => result.rows.length > 0))
  const isMixed = flags.showKind === true || groups.length > 1
  let isFirst = true
  let hasNamespaces = false
  for (const group of groups) {
    const [head] = group
    if (head === undefined) continue
    const style = tableStyle(format, flags, head.selection, isMixed)
    // kubectl shows the column from the first table that has namespaces on.
    hasNamespaces ||= style.namespaces
    const printer = new TablePrinter({ ...style, namespaces: hasNamespaces })
    const text = printer.print(group.map(({ result }) => result))
    if (text === '') continue
    host.stdout.write(isFirst || !flags.headers ? text : `\n${text}`)
    isFirst = false
  }
  if (errors.length > 0) throw new AggregateError(errors)
  if (isFirst && flags.ignoreNotFound !== true) host.stderr.write(nothingFound(session, selections, flags))
}

interface Collected<R> {
  readonly selection: Selection
  readonly result: R
}

/** Fetches what is selected, one after another; what is not there does not keep the others from it. */
async function collect<R>(
  selections: readonly Selection[],
  { ignoreNotFound }: GetFlags,
  fetch: (selection: Selection) => Promise<R>,
): Promise<{ readonly found: readonly Collected<R>[]; readonly errors: readonly unknown[] }> {
  const found: Collected<R>[] = []
  const errors: unknown[] = []
  for (const selection of selections) {
    try {
      found.push({ selection, result: await fetch(selection) })
    } catch (error) {
      if (!(ignoreNotFound === true && hasReason(error, 'NotFound'))) errors.push(error)
    }
  }
  return { found, errors }
}

type DrawnTable = Pick<Table, 'columnDefinitions' | 'rows'>

async function tableFor(session: Session, selection: Selection, flags: GetFlags): Promise<DrawnTable> {
  const { sortBy } = flags
  const table = await fetchTable(session, selection, listOptions(session, selection, flags), {
    chunkSize: flags.chunkSize,
    wholeObjects: sortBy !== undefined,
    ...(flags.subresource === undefined ? {} : { subresource: flags.subresource }),
  })
  if (sortBy === undefined) return table
  return { ...table, rows: rowsInOrder(table.rows, sortBy) }
}

/** The rows in order of a field. As with kubectl there are none where no row has it: it does not say why it drew nothing. */
function rowsInOrder(rows: DrawnTable['rows'], sortBy: string): DrawnTable['rows'] {
  try {
    return sortRows(rows, sortBy, ({ object }) => object)
  } catch (error) {
    if (error instanceof CliError && !(error instanceof UnsortableError)) return []
    throw error
  }
}

/** Tables of names and ages, drawn from the objects themselves. */
const tableDrawnHere =
  ({ environment }: Host) =>
  async (session: Session, selection: Selection, flags: GetFlags): Promise<DrawnTable> => {
    const objects = await fetchObjects(session, selection, flags)
    const { sortBy } = flags
    const sorted = sortBy === undefined ? objects : sortRows(objects, sortBy, (object) => object)
    return nameAndAge(sorted, environment.clock.now())
  }

/** Neighbours of one resource share a table. */
function groupByResource<R>(found: readonly Collected<R>[]): readonly (readonly Collected<R>[])[] {
  const groups: Collected<R>[][] = []
  for (const each of found) {
    const last = groups.at(-1)
    if (last?.[0]?.selection.resource === each.selection.resource) last.push(each)
    else groups.push([each])
  }
  return groups
}

function nothingFound(session: Session, selections: readonly Selection[], flags: GetFlags): string {
  const isScoped = selections.every(({ resource }) => resource.namespaced) && flags.allNamespaces !== true
  return isScoped ? `No resources found in ${session.namespace} namespace.\n` : 'No resources found\n'
}

async function printObjects(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  flags: GetFlags,
  isOne: boolean,
): Promise<void> {
  const { found: collected, errors } = await collect(selections, flags, (each) => fetchObjects(session, each, flags))
  const found: readonly Found[] = collected.flatMap(({ selection: { resource }, result }) =>
    result.map((object) => ({ resource, object })),
  )
  const [first] = found
  const isNothing = first === undefined && flags.ignoreNotFound === true
  if (errors.length > 0 && (isOne || isNothing)) throw new AggregateError(errors)
  if (isNothing) return
  const printer = new ObjectPrinter(await readObjectFormat(host, flags), {
    managedFields: flags.showManagedFields === true,
    headers: flags.headers,
    requireKeys: !flags.allowMissingTemplateKeys,
  })
  const { sortBy } = flags
  const text = async () => {
    if (first !== undefined && isOne && found.length === 1) return printer.one(first)
    return printer.many(sortBy === undefined ? found : sortObjects(found, sortBy, ({ object }) => object))
  }
  try {
    host.stdout.write(await text())
  } catch (error) {
    // What was not found is told before what cannot be printed.
    throw errors.length === 0 ? error : new AggregateError([...errors, error])
  }
  if (errors.length > 0) throw new AggregateError(errors)
}

async function fetchObjects(session: Session, selection: Selection, flags: GetFlags) {
  const { resource, name, unnamed } = selection
  if (unnamed !== undefined) return [unnamed]
  const options = listOptions(session, selection, flags)
  if (name === undefined) return listAll(session.client, resource, options, flags.chunkSize)
  const { namespace } = options
  const key = { name, ...(namespace === undefined ? {} : { namespace }) }
  return [await getNamed(session.client, resource, key, flags.subresource)]
}
