import { type Event, events, isJsonObject, type KubernetesObject } from '@coracle/api'
import { CliError, SummaryError } from '../cli-error.ts'
import { ageText, lastSeenMs } from '../describe/events.ts'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { escapeControls } from '../output/escape-controls.ts'
import { ObjectPrinter } from '../output/object-printer.ts'
import { readOutputFormat } from '../output/output-format.ts'
import { listObjects } from '../resources/fetch.ts'
import { watchPace } from '../resources/watch-again.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { isWatchOver } from './watch-time.ts'

export interface EventsFlags extends ConnectionFlags {
  readonly allNamespaces?: boolean
  /** `TYPE/NAME`: only what happened to this object. */
  readonly for?: string
  readonly types: readonly string[]
  readonly watch?: boolean
  readonly headers: boolean
  readonly output?: string
  readonly template?: string
  readonly showManagedFields?: boolean
  readonly allowMissingTemplateKeys: boolean
  readonly chunkSize: number
}

/** `coracle events`: what has happened, in order of time */
export async function showEvents(host: Host, flags: EventsFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    const { client, namespace } = session
    const options = {
      ...(flags.allNamespaces === true ? {} : { namespace }),
      ...(flags.for === undefined ? {} : { fieldSelector: await selectorFor(session, flags.for) }),
    }
    // A template alone is for nothing.
    const format = (flags.output ?? '') === '' ? undefined : await readOutputFormat(host, flags, { tables: false })
    checkTypes(flags.types)
    const isWanted = ({ type = '' }: Event): boolean =>
      flags.types.length === 0 || flags.types.some((each) => each.toLowerCase() === type.toLowerCase())
    const list = await listObjects(client, events, options, flags.chunkSize)
    const found = (list.items as readonly Event[]).filter(isWanted).sort((a, b) => lastSeenMs(a) - lastSeenMs(b))
    if (found.length === 0 && flags.watch !== true) {
      host.stderr.write(
        flags.allNamespaces === true ? 'No events found.\n' : `No events found in ${namespace} namespace.\n`,
      )
      return
    }
    const now = () => host.environment.clock.now()
    if (format === undefined || format.type === 'table') {
      const widths: number[] = []
      let head = flags.headers ? [headersFor(flags)] : []
      // Headers come with the first event.
      const linesOf = (shown: readonly Event[]): string => {
        if (shown.length === 0) return ''
        const lines = table([...head, ...shown.map((event) => rowOf(event, now(), flags))], widths)
        head = []
        return lines
      }
      host.stdout.write(linesOf(found))
      if (flags.watch !== true) return
      const line = async (event: Event) => linesOf([event])
      return follow(host, session, flags, { options, version: list.resourceVersion, isWanted, textOf: line })
    }
    const resource = (await session.catalog()).find('events.v1')
    const { inDeclaredOrder } = await import('../output/declared-order.ts')
    const printer = new ObjectPrinter(format, {
      managedFields: flags.showManagedFields === true,
      requireKeys: !flags.allowMissingTemplateKeys,
      order: (kind, object) => ordered(object, (event) => inDeclaredOrder(kind, event)),
    })
    // kubectl knows the name of one event, and none of a list.
    if (format.type === 'name' && flags.watch !== true) return
    const whole = (event: Event) => printer.one({ resource, object: withEventTime(event) })
    if (flags.watch !== true) {
      host.stdout.write(await printer.one({ resource, object: eventList(found.map(withEventTime)) }))
      return
    }
    for (const event of found) host.stdout.write(await whole(event))
    return follow(host, session, flags, { options, version: list.resourceVersion, isWanted, textOf: whole })
  })
}

function checkTypes(types: readonly string[]): void {
  const areKnown = types.every((type) => ['normal', 'warning'].includes(type.toLowerCase()))
  if (!areKnown) throw new CliError('valid --types are Normal or Warning')
}

/** The time of an event of a series is printed also where it is nothing, as Go writes it. */
const withEventTime = (event: Event) =>
  ({ ...event, eventTime: event.eventTime ?? null }) as unknown as KubernetesObject

/** All events as one object, which has no name. */
const eventList = (items: readonly KubernetesObject[]) => ({ kind: 'EventList', apiVersion: 'v1', metadata: {}, items })

/** An event, or a list of them, with the fields of each event in order. */
function ordered(object: unknown, order: (event: unknown) => unknown): unknown {
  if (!isJsonObject(object) || !Array.isArray(object.items)) return order(object)
  return { ...object, items: object.items.map(order) }
}

interface Followed {
  readonly options: { readonly namespace?: string; readonly fieldSelector?: string }
  /** The version at which the events that are shown were listed. */
  readonly version: string
  readonly isWanted: (event: Event) => boolean
  readonly textOf: (event: Event) => Promise<string>
}

/** Prints each event as it comes, until the process is interrupted, or a watch has had its time by `--request-timeout`. */
async function follow(host: Host, { client }: Session, flags: EventsFlags, followed: Followed): Promise<void> {
  const { options, isWanted, textOf } = followed
  const { clock } = host.environment
  let { version } = followed
  const untilEnd = async (): Promise<void> => {
    const watch = await client.watch<Event>(events, { ...options, resourceVersion: version, allowWatchBookmarks: true })
    for await (const change of watch) {
      if (change.type === 'ERROR') throw new CliError(change.object.message ?? 'the watch has ended')
      version = change.object.metadata.resourceVersion ?? version
      if (change.type === 'BOOKMARK' || change.type === 'DELETED' || !isWanted(change.object)) continue
      host.stdout.write(await textOf(change.object))
      await host.stdout.drained()
    }
  }
  const pace = watchPace(host)
  for (;;) {
    await pace()
    const begunMs = clock.monotonicMs()
    try {
      await untilEnd()
    } catch (error) {
      if (await isWatchOver(host, flags, begunMs)) return
      throw error
    }
  }
}

async function selectorFor(session: Session, text: string): Promise<string> {
  const [type = '', name = '', ...more] = text.split('/')
  if (more.length > 0) throw new CliError('arguments in resource/name form may not have more than one slash')
  if (type === '' || name === '') throw new CliError('--for must be in resource/name form')
  const catalog = await session.catalog()
  if (!catalog.has(type)) throw new SummaryError(`the server doesn't have a resource type ${JSON.stringify(type)}`)
  const { kind, group, version } = catalog.find(type)
  const apiVersion = group === '' ? version : `${group}/${version}`
  return `involvedObject.kind=${kind},involvedObject.apiVersion=${apiVersion},involvedObject.name=${name}`
}

const headersFor = ({ allNamespaces }: EventsFlags): readonly string[] => [
  ...(allNamespaces === true ? ['NAMESPACE'] : []),
  ...['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
]

function rowOf(event: Event, nowMs: number, { allNamespaces }: EventsFlags): readonly string[] {
  const { metadata, type = '', reason = '', message = '', involvedObject } = event
  return [
    ...(allNamespaces === true ? [metadata.namespace ?? ''] : []),
    ageText(event, nowMs),
    ...[type, reason, `${involvedObject.kind ?? ''}/${involvedObject.name ?? ''}`, message.trim()].map(escapeControls),
  ]
}

/** Rows in columns that are at least as wide as those before, by which `widths` was filled. */
const table = (rows: readonly (readonly string[])[], widths: number[]): string =>
  alignTabs(rows.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment, widths)
