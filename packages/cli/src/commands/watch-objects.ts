import { ApiError, hasReason, type KubernetesObject, type Table } from '@coracle/api'
import type { DiscoveredResource, ListOptions, Watch, WatchOptions } from '@coracle/client'
import { CliError, PrintError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { nameAndAge } from '../output/name-and-age.ts'
import { type Found, type ObjectFormat, ObjectPrinter } from '../output/object-printer.ts'
import type { OutputFormat } from '../output/output-format.ts'
import { TablePrinter, type TableStyle } from '../output/table-printer.ts'
import { fetchTable, getNamed, listObjects } from '../resources/fetch.ts'
import { listOptions, type Selection } from '../resources/select-objects.ts'
import { watchPace } from '../resources/watch-again.ts'
import type { Session } from '../session.ts'
import type { GetFlags } from './get-flags.ts'
import { isWatchOver } from './watch-time.ts'

/** How what is watched is printed. */
interface WatchStyle {
  readonly format: OutputFormat
  readonly style: TableStyle
  readonly flags: GetFlags
}

/** What is watched, and how it is printed. */
export interface WatchRequest extends WatchStyle {
  readonly selection: Selection
}

/** Prints objects as they are when a watch begins, once all are there; with `--watch-only` nothing. */
export async function showObjects(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  style: WatchStyle,
): Promise<void> {
  const view = viewOf(host, session, style)
  const found: State[] = []
  for (const selection of selections)
    found.push(await view.fetch(selection, listOptions(session, selection, style.flags)))
  if (style.flags.watchOnly !== true) await view.show(found)
}

/**
 * Prints what there is, then each change as it comes, until the process is interrupted, or a watch has had its time by
 * `--request-timeout`; with `--watch-only` the changes alone. A watch that the server ends is taken up where it was.
 */
export async function watchObjects(host: Host, session: Session, request: WatchRequest): Promise<void> {
  const { selection, flags } = request
  const { resource, name } = selection
  const options = listOptions(session, selection, flags)
  const view = viewOf(host, session, request)
  // A name that is not there is an error, and not an empty list to wait on.
  if (name !== undefined && !(await isThere(view, selection, options, flags))) return
  const { name: _, ...collection } = selection
  const state = await view.fetch(collection, options)
  if (flags.watchOnly !== true) await view.show([state])
  const { clock } = host.environment
  let version = state.resourceVersion
  const pace = watchPace(host)
  for (;;) {
    await pace()
    const begunMs = clock.monotonicMs()
    try {
      version = await follow(host, view, { resource, options, version })
    } catch (error) {
      // Its kind has gone, and all objects of it.
      if (hasReason(error, 'NotFound')) return
      if (await isWatchOver(host, flags, begunMs)) return
      throw error
    }
  }
}

/** False where an object is not there and `--ignore-not-found` says that this is no error. */
async function isThere(view: View, selection: Selection, options: ListOptions, flags: GetFlags): Promise<boolean> {
  try {
    await view.fetch(selection, options)
    return true
  } catch (error) {
    if (flags.ignoreNotFound === true && hasReason(error, 'NotFound')) return false
    throw error
  }
}

interface Followed {
  readonly resource: DiscoveredResource
  readonly options: ListOptions
  /** What came later is followed. */
  readonly version: string
}

/** Prints changes until the server ends the watch. Resolves to the version to go on from. */
async function follow(host: Host, view: View, { resource, options, version }: Followed): Promise<string> {
  let last = version
  const watch = await view.watch(resource, { ...options, resourceVersion: version, allowWatchBookmarks: true })
  for await (const event of watch) {
    if (event.type === 'ERROR') throw ApiError.from(event.object)
    last = event.object.metadata.resourceVersion ?? last
    if (event.type !== 'BOOKMARK') await view.tell(event.type, resource, event.object)
    await host.stdout.drained()
  }
  return last
}

/** What is there, at a version. */
interface State {
  readonly resource: DiscoveredResource
  readonly resourceVersion: string
  /** The objects, or tables of them in their place. */
  readonly objects: readonly KubernetesObject[]
}

/** What is asked for of the server, and how it is printed. */
interface View {
  /** An object, or those of a collection where the selection has no name. */
  fetch(selection: Selection, options: ListOptions): Promise<State>
  watch(resource: DiscoveredResource, options: WatchOptions): Promise<Watch<KubernetesObject>>
  /** Prints what there is. */
  show(states: readonly State[]): Promise<void>
  /** Prints a change. */
  tell(event: string, resource: DiscoveredResource, object: KubernetesObject): Promise<void>
}

function viewOf(host: Host, session: Session, { format, style, flags }: WatchStyle): View {
  if (format.type !== 'table') return objectsView(host, session, format, flags)
  return flags.serverPrint ? serversTables(host, session, style, flags) : ownTables(host, session, style, flags)
}

/** Tables that the server draws. */
function serversTables(host: Host, session: Session, style: TableStyle, flags: GetFlags): View {
  const printer = new TablePrinter(style)
  let columnDefinitions: Table['columnDefinitions'] = []
  const drawn = (object: KubernetesObject | Table) => {
    if (!isTable(object)) return nameAndAge([object], host.environment.clock.now())
    // The events of a watch have columns in the first of them alone.
    if (object.columnDefinitions?.length > 0) columnDefinitions = object.columnDefinitions
    return { columnDefinitions, rows: object.rows ?? [] }
  }
  return {
    fetch: async (selection, options) => {
      const { subresource } = flags
      const request = { chunkSize: flags.chunkSize, ...(subresource === undefined ? {} : { subresource }) }
      const table = await fetchTable(session, selection, options, request)
      const { resourceVersion = '' } = table.metadata
      return { resource: selection.resource, resourceVersion, objects: [table as unknown as KubernetesObject] }
    },
    watch: (resource, options) => session.client.watchTables(resource, options),
    show: async (states) => {
      host.stdout.write(
        printer.print(
          states.flatMap(({ objects }) => objects.map(drawn)),
          'ADDED',
        ),
      )
    },
    tell: async (event, _, object) => {
      host.stdout.write(printer.print(drawn(object), event))
    },
  }
}

const isTable = (object: KubernetesObject | Table): object is Table => object.kind === 'Table'

/** Objects as they are asked for. */
const fetchedBy =
  (session: Session, flags: GetFlags): View['fetch'] =>
  async ({ resource, name }, options) => {
    if (name === undefined) {
      const { resourceVersion, items } = await listObjects(session.client, resource, options, flags.chunkSize)
      return { resource, resourceVersion, objects: items }
    }
    const { namespace } = options
    const key = { name, ...(namespace === undefined ? {} : { namespace }) }
    const object = await getNamed(session.client, resource, key, flags.subresource)
    return { resource, resourceVersion: object.metadata.resourceVersion ?? '', objects: [object] }
  }

/** Tables of names and ages, drawn here. */
function ownTables(host: Host, session: Session, style: TableStyle, flags: GetFlags): View {
  const printer = new TablePrinter(style)
  const print = (event: string, objects: readonly KubernetesObject[]) => {
    host.stdout.write(printer.print(nameAndAge(objects, host.environment.clock.now()), event))
  }
  return {
    fetch: fetchedBy(session, flags),
    watch: (resource, options) => session.client.watch(resource, options),
    show: async (states) =>
      print(
        'ADDED',
        states.flatMap(({ objects }) => objects),
      ),
    tell: async (event, _, object) => print(event, [object]),
  }
}

/** What cannot be printed of what is there when a watch begins. */
function throwUnprintable(error: unknown): never {
  if (!(error instanceof CliError)) throw error
  const message = `unable to output the provided object: ${error.message}`
  throw error instanceof PrintError ? new PrintError(message, error.printed) : new CliError(message)
}

/** Objects, or what a template makes of them. */
function objectsView(host: Host, session: Session, format: ObjectFormat, flags: GetFlags): View {
  const printer = new ObjectPrinter(format, {
    managedFields: flags.showManagedFields === true,
    headers: flags.headers,
    requireKeys: !flags.allowMissingTemplateKeys,
  })
  const isTold = flags.outputWatchEvents === true
  const tell = async (event: string, found: readonly Found[]) => {
    for await (const text of printer.each(found, isTold ? event : undefined)) host.stdout.write(text)
  }
  return {
    fetch: fetchedBy(session, flags),
    watch: (resource, options) => session.client.watch(resource, options),
    show: (states) => {
      const found = states.flatMap(({ resource, objects }) => objects.map((object) => ({ resource, object })))
      return tell('ADDED', found).catch(throwUnprintable)
    },
    tell: (event, resource, object) => tell(event, [{ resource, object }]),
  }
}
