import { type Event, events, hasReason, type KubernetesObject, ofJsonForm } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { describeObject } from '../describe/describe-object.ts'
import { describePart } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import { getNamed, listAll, listPages } from '../resources/fetch.ts'
import { listOptions, type Selection, type SelectorFlags } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { refusalOfSelection } from './connection-refusals.ts'
import { type DescribingSession, describerOf, showsEvents } from './describers.ts'
import { asOneBeside, besideRefusals, selectionsOf, summariesOf } from './manifest-command.ts'

export interface DescribeFlags extends ConnectionFlags, SelectorFlags, ManifestFlags {
  /** Absent: those of a single object that is named whole. */
  readonly showEvents?: boolean
  readonly chunkSize: number
}

/** `coracle describe TYPE NAME`, `-f FILE` */
export async function describe(host: Host, args: readonly string[], flags: DescribeFlags): Promise<void> {
  const read = await loadReadable(host, flags, { args })
  await withSession(
    host,
    flags,
    async (session) => {
      const { selections, refusals, failures: unread } = await selectionsOf(session, args, read, 'describe', flags)
      const failures = besideRefusals(refusals, summariesOf(unread, false))
      if (selections.length === 0 && failures.length > 0) throw new AggregateError(failures)
      const { found, isPrefix, errors: unfound } = await findObjects(session, selections, args, flags)
      // kubectl looks for what arguments name at first, and for what files name as it describes it.
      const [missed, undescribed] = hasFiles(flags) ? [failures, [...unfound]] : [unfound, []]
      const asked: DescribingSession = {
        ...session,
        list: async (resource, options) => (await listPages(session.client, resource, options, flags.chunkSize)).items,
      }
      const count = hasFiles(flags) ? selections.length : found.length
      const isSingle = count === 1 && missed.length === 0 && !isPrefix
      const showEvents = flags.showEvents ?? isSingle
      let isFirst = true
      for (const { resource, object } of found) {
        try {
          const nowMs = host.environment.clock.now()
          const text = await describeOne(asked, resource, object, { nowMs, events: showEvents })
          // kubectl sets objects that are named by what their names begin with closer together.
          host.stdout.write(isPrefix ? `${text}\n` : isFirst ? text : `\n\n${text}`)
          isFirst = false
        } catch (error) {
          undescribed.push(error)
        }
      }
      const told = eachOnce(undescribed)
      const errors = [...asOneBeside(told, missed), ...told]
      if (errors.length > 0) throw new AggregateError(errors)
      if (found.length === 0) host.stderr.write(nothingFound(session, flags))
    },
    refusalOfSelection(args, flags),
  )
}

/** Errors without those that say what one before them has said. */
function eachOnce(errors: readonly unknown[]): readonly unknown[] {
  const told = new Map<string, unknown>()
  for (const error of errors) {
    const text = describePart(error)
    if (!told.has(text)) told.set(text, error)
  }
  return [...told.values()]
}

function nothingFound({ namespace }: Session, { allNamespaces }: DescribeFlags): string {
  return allNamespaces !== true ? `No resources found in ${namespace} namespace.\n` : 'No resources found\n'
}

interface Found {
  readonly found: readonly { readonly resource: DiscoveredResource; readonly object: KubernetesObject }[]
  /** Whether the name is the beginning of theirs. */
  readonly isPrefix: boolean
  /** Why others that are meant are not among them. */
  readonly errors: readonly unknown[]
}

/** The objects that are meant. Of `TYPE NAME` where there is no such object, those whose names begin so. */
async function findObjects(
  session: Session,
  selections: readonly Selection[],
  args: readonly string[],
  flags: DescribeFlags,
): Promise<Found> {
  const found: { readonly resource: DiscoveredResource; readonly object: KubernetesObject }[] = []
  const errors: unknown[] = []
  for (const selection of selections) {
    const { resource } = selection
    try {
      for (const object of await objectsOf(session, selection, flags)) found.push({ resource, object })
    } catch (error) {
      errors.push(error)
    }
  }
  const [error] = errors
  const [only, another] = selections
  const isPair = only?.name !== undefined && another === undefined && args.length === 2
  if (!isPair || !hasReason(error, 'NotFound')) {
    // kubectl takes any two arguments for a type and what names begin with.
    return { found: error !== undefined && args.length === 2 ? [] : found, isPrefix: false, errors }
  }
  const { name: prefix = '', ...all } = only
  const similar = (await objectsOf(session, all, flags)).filter(({ metadata }) => metadata.name?.startsWith(prefix))
  if (similar.length === 0) throw error
  return { found: similar.map((object) => ({ resource: only.resource, object })), isPrefix: true, errors: [] }
}

/** The object of that name, or all. */
async function objectsOf(
  session: Session,
  selection: Selection,
  flags: DescribeFlags,
): Promise<readonly KubernetesObject[]> {
  const { resource, name } = selection
  const options = listOptions(session, selection, flags)
  if (name === undefined) return listAll(session.client, resource, options, flags.chunkSize)
  const { namespace } = options
  const key = { name, ...(namespace === undefined ? {} : { namespace }) }
  // Of what files name, kubectl does not say that its namespace is missing.
  return [
    await (hasFiles(flags) ? session.client.get(resource, key) : getNamed(session.client, resource, key, undefined)),
  ]
}

async function describeOne(
  session: DescribingSession,
  resource: DiscoveredResource,
  object: KubernetesObject,
  wanted: { readonly nowMs: number; readonly events: boolean },
): Promise<string> {
  const { nowMs } = wanted
  const happened = wanted.events && showsEvents(resource) ? await eventsOf(session, object) : undefined
  const describe = describerOf(resource)
  if (describe === undefined) return describeObject(object, happened, nowMs)
  // Describers know the kinds as they are here, where null is absence.
  return describe(session, ofJsonForm(object), happened, nowMs)
}

/** The kubelet's annotation of a pod from a manifest of its node: the identity under which it reports about it. */
const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** Undefined where the server does not let us see events: what else there is, is shown all the same. */
async function eventsOf({ list }: DescribingSession, object: KubernetesObject): Promise<readonly Event[] | undefined> {
  const { kind, metadata } = object
  const { name = '', namespace = '', uid = '', annotations } = metadata
  const about = (identity: string): Promise<readonly Event[]> => {
    const wanted = {
      'involvedObject.name': name,
      'involvedObject.namespace': namespace,
      ...(kind === 'Pod' ? {} : { 'involvedObject.kind': kind }),
      ...(identity === '' ? {} : { 'involvedObject.uid': identity }),
    }
    return list(events, {
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: Object.entries(wanted)
        .map(([field, value]) => `${field}=${value}`)
        .join(','),
    })
  }
  try {
    if (kind === 'Pod') return await about(annotations?.[mirrorAnnotation] ?? uid)
    // Nodes report about themselves under their names, before they know their identity.
    return kind === 'Node' ? [...(await about(uid)), ...(await about(name))] : await about(uid)
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}
