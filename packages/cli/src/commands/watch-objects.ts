import { ApiError, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ListOptions } from '@coracle/client'
import { requestTimeoutMs } from '../connection.ts'
import type { Host } from '../host.ts'
import { nameAndAge } from '../output/name-and-age.ts'
import { ObjectPrinter } from '../output/object-printer.ts'
import type { OutputFormat } from '../output/output-format.ts'
import { TablePrinter, type TableStyle } from '../output/table-printer.ts'
import { listObjects } from '../resources/fetch.ts'
import { listOptions, type Selection } from '../resources/select-objects.ts'
import type { Session } from '../session.ts'
import type { GetFlags } from './get-flags.ts'

/** What is watched, and how it is printed. */
export interface WatchRequest {
  readonly selection: Selection
  readonly format: OutputFormat
  readonly style: TableStyle
  readonly flags: GetFlags
}

/**
 * Prints what there is, then each change as it comes, until the process is interrupted, or a watch has had its time by
 * `--request-timeout`; with `--watch-only` the changes alone. A watch that the server ends is taken up where it was.
 */
export async function watchObjects(host: Host, session: Session, request: WatchRequest): Promise<void> {
  const { selection, flags } = request
  const { resource, name } = selection
  const options = listOptions(session, selection, flags)
  const print = await printerOf(host, request)
  // A name that is not there is an error, and not an empty list to wait on.
  if (name !== undefined) {
    const { namespace } = options
    await session.client.get(resource, { name, ...(namespace === undefined ? {} : { namespace }) })
  }
  const list = await listObjects(session.client, resource, options, flags.chunkSize)
  if (flags.watchOnly !== true) await print('ADDED', list.items)
  const { clock } = host.environment
  const limitMs = requestTimeoutMs(flags.requestTimeout)
  let version = list.resourceVersion
  for (;;) {
    const begunMs = clock.monotonicMs()
    try {
      version = await follow(host, session, { resource, options, version }, print)
    } catch (error) {
      if (limitMs === undefined || clock.monotonicMs() - begunMs < limitMs) throw error
      if ((flags.v ?? 0) >= 5) await logTimeLimit(host)
      return
    }
  }
}

/** The log says why a watch has ended; there is nothing else to tell. */
async function logTimeLimit({ stderr, environment }: Host): Promise<void> {
  const { logTime } = await import('../log-exchanges.ts')
  stderr.write(
    `I${logTime(environment.clock.now())} "Unable to decode an event from the watch stream" err="context deadline exceeded (Client.Timeout or context cancellation while reading body)"\n`,
  )
}

interface Followed {
  readonly resource: DiscoveredResource
  readonly options: ListOptions
  /** What came later is followed. */
  readonly version: string
}

/** Prints changes until the server ends the watch. Resolves to the version to go on from. */
async function follow(
  host: Host,
  session: Session,
  { resource, options, version }: Followed,
  print: Print,
): Promise<string> {
  let last = version
  const watch = await session.client.watch(resource, {
    ...options,
    resourceVersion: version,
    allowWatchBookmarks: true,
  })
  for await (const event of watch) {
    if (event.type === 'ERROR') throw ApiError.from(event.object)
    last = event.object.metadata.resourceVersion ?? last
    if (event.type !== 'BOOKMARK') await print(event.type, [event.object])
    await host.stdout.drained()
  }
  return last
}

type Print = (event: string, objects: readonly KubernetesObject[]) => Promise<void>

async function printerOf(host: Host, { selection, format, style, flags }: WatchRequest): Promise<Print> {
  const { resource } = selection
  if (format.type === 'table') {
    const printer = new TablePrinter(style)
    const drawing = flags.serverPrint ? (await import('../output/drawing.ts')).drawingOf(resource) : nameAndAge
    return async (event, objects) => {
      const rows = objects.map((object) => drawing.row(object, host.environment.clock.now()))
      host.stdout.write(printer.print({ columnDefinitions: drawing.columns, rows }, event))
    }
  }
  const printer = new ObjectPrinter(format, {
    managedFields: flags.showManagedFields === true,
    headers: flags.headers,
    requireKeys: !flags.allowMissingTemplateKeys,
  })
  const isTold = flags.outputWatchEvents === true
  return async (event, objects) => {
    for (const object of objects) {
      const found = { resource, object }
      host.stdout.write(await (isTold ? printer.event(event, found) : printer.one(found)))
    }
  }
}
