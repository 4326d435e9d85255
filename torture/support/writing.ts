import type { Random } from '@coracle/environment'
import { type Answer, type Api, type Call, patch, post, remove } from '../../conformance/support/api.ts'
import { configMap, paths } from '../../conformance/support/objects.ts'
import type { Found, Request, WriteLog } from './write-log.ts'

const { configMaps } = paths

/** The writers of a run. Their watch and one more call fit beside them into the connections of an `Api`. */
export const writersCount = 12
const ownCount = 5
const sharedCount = 4

/** What a write called `label` stores: text of a length that the label decides. A part of it is no whole text. */
function textOf(label: string): string {
  const sum = [...label].reduce((total, letter) => total + letter.charCodeAt(0), 0)
  return label.padEnd(50 + ((sum * 97) % 3000), label)
}

const dataOf = (label: string) => ({ label, text: textOf(label) })

/**
 * Creates, patches and deletes ConfigMaps by concurrent writers until the server is gone or fails, and enters into the log
 * what it asks for and what is answered. Some objects belong to one writer, others are written by all. `prefix` must
 * be new each time. `onAcknowledged` is called for each acknowledged write, `pause` before each that is sent; once `isOver`
 * says so nothing more is.
 */
export async function writeUntilGone(
  api: Api,
  log: WriteLog,
  options: {
    readonly prefix: string
    readonly random: Random
    readonly onAcknowledged?: () => void
    readonly pause?: () => Promise<void>
    readonly isOver?: () => boolean
  },
): Promise<void> {
  const { prefix, random, pause, isOver = () => false } = options
  /** Whether the server is still there. */
  const send = async (request: Request, path: string, call: Call): Promise<boolean> => {
    const answer = await api.call(path, call).catch(() => undefined)
    if (answer === undefined || answer.code >= 500) return false
    if (answer.code >= 300) log.refuse(request)
    else {
      log.acknowledge(request, revisionOf(answer))
      options.onAcknowledged?.()
    }
    return true
  }
  const write = (name: string, label: string): Promise<boolean> => {
    const path = `${configMaps}/${name}`
    const request = log.request(name, label)
    if (!log.has(name)) return send(request, configMaps, post(configMap(name, dataOf(label))))
    return send(request, path, patch('merge', { data: dataOf(label) }))
  }
  const writer = async (index: number): Promise<void> => {
    for (let count = 0; ; count++) {
      await pause?.()
      if (isOver()) return
      const label = `${prefix}-${index}-${count}`
      const own = `own-${index}-${count % ownCount}`
      const isShared = random.next() < 0.3
      const isDeletion = !isShared && log.has(own) && random.next() < 0.3
      const goesOn = isDeletion
        ? await send(log.request(own), `${configMaps}/${own}`, remove())
        : await write(isShared ? `shared-${Math.floor(random.next() * sharedCount)}` : own, label)
      if (!goesOn) return
    }
  }
  await Promise.all(Array.from({ length: writersCount }, (_, index) => writer(index)))
}

function revisionOf({ json }: Answer): number | undefined {
  return json.kind === 'ConfigMap' ? Number(json.metadata.resourceVersion) : undefined
}

interface ConfigMapObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: { readonly label?: string; readonly text?: string }
}

/** The object as the log has it; undefined where it is none of the writers'. Reports a content that is not whole. */
function read({ metadata, data }: ConfigMapObject, log: WriteLog): (Found & { readonly name: string }) | undefined {
  const { label, text } = data ?? {}
  if (label === undefined) return undefined
  const { name, resourceVersion } = metadata
  if (text !== textOf(label))
    log.report(`the content of ${name} at revision ${resourceVersion} is not that of ${label}`)
  return { name, label, revision: Number(resourceVersion) }
}

/** Lists everything and has the log judge it. Resolves with the revision of the list. */
export async function audit(api: Api, log: WriteLog): Promise<number> {
  const { metadata, items } = await api.object(configMaps)
  const objects = (items as ConfigMapObject[]).flatMap((item) => read(item, log) ?? [])
  const revision = Number(metadata.resourceVersion)
  log.judge(new Map(objects.map(({ name, ...found }) => [name, found])), revision)
  return revision
}

/** A watch that enters into the log what it is told. */
export interface Watching {
  /** Settles when the watch is over, by the server or by `close`. */
  readonly done: Promise<void>
  close(): void
}

export async function watchInto(api: Api, log: WriteLog, after: number): Promise<Watching> {
  const lines = await api.lines(`${configMaps}?watch=1&resourceVersion=${after}`)
  const follow = async (): Promise<void> => {
    for (let event = await lines.next(); event !== undefined; event = await lines.next()) enter(event, log)
  }
  return { done: follow().catch(() => {}), close: () => lines.close() }
}

/**
 * Watches from a revision of an earlier life of the server up to now: everything known to be written since must be told,
 * with its revision. False where the server has that history no more and says so (410). Rejects where it says that the
 * history is damaged.
 */
export async function auditHistory(api: Api, log: WriteLog, after: number, label: string): Promise<boolean> {
  // A watch has no end: this write is where the look at it ends.
  const name = 'marker'
  const call = log.has(name) ? patch('merge', { data: dataOf(label) }) : post(configMap(name, dataOf(label)))
  const request = log.request(name, label)
  const { metadata } = await api.object(log.has(name) ? `${configMaps}/${name}` : configMaps, call)
  const last = Number(metadata.resourceVersion)
  log.acknowledge(request, last)

  const lines = await api.lines(`${configMaps}?watch=1&resourceVersion=${after}`)
  const told = new Set<number>()
  try {
    for (let revision = after; revision < last; ) {
      const event = await lines.next()
      const status = event?.type === 'ERROR' ? event.object : event
      if (status?.kind === 'Status' && status.code === 410) return false
      if (status?.kind === 'Status' && /\bstore is damaged\b/.test(status.message)) throw new Error(status.message)
      if (event?.type === undefined || event.type === 'ERROR') {
        log.report(`a watch from revision ${after} ended at ${revision}: ${JSON.stringify(event)}`)
        return true
      }
      revision = Number(event.object.metadata.resourceVersion)
      told.add(revision)
      enter(event, log)
    }
  } finally {
    lines.close()
  }
  for (const revision of log.revisionsAfter(after)) {
    if (revision <= last && !told.has(revision)) log.report(`a watch from revision ${after} left out ${revision}`)
  }
  return true
}

function enter({ type, object }: { readonly type: string; readonly object: ConfigMapObject }, log: WriteLog): void {
  const found = read(object, log)
  if (found !== undefined) log.watch(found.name, type === 'DELETED' ? undefined : found.label, found.revision)
}
