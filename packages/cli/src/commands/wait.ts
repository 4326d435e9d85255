import { hasReason, isJsonObject, type KubernetesObject } from '@coracle/api'
import { findJsonPath, parseJsonPath } from '@coracle/api/jsonpath'
import { parseDuration } from '@coracle/environment'
import { CliError, ListError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { filesNamed, hasFiles, loadManifests } from '../manifests/load-manifests.ts'
import { completePath } from '../output/custom-columns.ts'
import { type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { isSeenLate } from '../output/output-format.ts'
import { awaitAny } from '../resources/await-any.ts'
import { listOptions, nothingNamed, type Selection, selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { splitOnce } from '../split-once.ts'
import { type Awaited, awaitObject, type IsOver } from './await-object.ts'
import { localNeedsFiles, localResource } from './change-objects.ts'
import { labelFilter, selectManifests } from './manifest-command.ts'
import {
  findTargets,
  forEachTarget,
  type RefusedTarget,
  requireAll,
  requireTargets,
  type Target,
  type TargetFlags,
  type Targets,
} from './targets.ts'

export interface WaitFlags extends ConnectionFlags, TargetFlags, OutcomeFlags {
  /** Several are waited for one after another, as kubectl 1.36 does; creation comes first. */
  readonly for: readonly string[]
  /** Below zero waits for a week, as in kubectl. */
  readonly timeout: string
  /** Judges the objects of files as they stand there. */
  readonly local?: boolean
}

const weekMs = 7 * 24 * 3600 * 1000

/** Whether an object is as it is waited for; undefined: it is not there. */
interface Condition {
  readonly isMet: IsOver
  /** Being there, which messages tell in other words. */
  readonly isCreation: boolean
}

/** What is waited for, with the object as it was found: undefined where it was named and not looked for. */
interface Found extends Awaited {
  readonly object?: KubernetesObject
}

/** `coracle wait --for=CONDITION TYPE NAME` */
export async function wait(host: Host, args: readonly string[], flags: WaitFlags): Promise<void> {
  const conditions = conditionsOf(flags)
  const timeoutMs = flags.timeout.startsWith('-') ? weekMs : parseDuration(flags.timeout)
  const deadline = host.environment.clock.now() + timeoutMs
  const printer = await OutcomePrinter.for(host, flags)
  if (flags.local === true) return judgeFiles(host, args, flags, conditions, printer)
  await withSession(host, flags, async (session) => {
    const awaited = await objectsOf(host, session, args, flags, deadline)
    const isNothing = awaited.found.length === 0 && awaited.unread.length === 0
    if (isNothing && !isFor(flags, 'delete')) throw new CliError('no matching resources found')
    await forEachTarget(awaited, async (each) => {
      let awaited = each
      for (const condition of conditions) {
        const object = await awaitOne(host, session, awaited, condition, timeoutMs === 0 ? undefined : deadline)
        // What was named and not there to be deleted is not spoken of.
        if (object === undefined) continue
        awaited = { ...each, object }
        await printer.print(each.resource, { verb: 'condition met', object })
      }
    })
  })
}

/** Waits for one object, or looks at it once where there is no deadline. Gives what was last seen of it. */
async function awaitOne(
  host: Host,
  session: Session,
  awaited: Found,
  { isMet, isCreation }: Condition,
  deadline: number | undefined,
): Promise<KubernetesObject | undefined> {
  if (awaited.key.name === '') throw new CliError('resource name must be provided')
  const where = `${awaited.resource.plural}/${awaited.key.name}`
  let last = awaited.object
  const isOver = async (object: KubernetesObject | undefined) => {
    last = object ?? last
    if (await isMet(object)) return true
    if (deadline === undefined) {
      throw new CliError(isCreation ? 'timed out waiting for the condition' : `condition not met for ${where}`)
    }
    return false
  }
  const leftMs = deadline === undefined ? 0 : Math.max(1, deadline - host.environment.clock.now())
  if (await awaitObject(host, session, awaited, leftMs, isOver)) return last
  throw new CliError(`timed out waiting for the condition${isCreation ? '' : ` on ${where}`}`)
}

const isFor = (flags: WaitFlags, what: 'create' | 'delete'): boolean =>
  flags.for.some((text) => text.toLowerCase() === what)

/** Nothing changes in files: what their objects are now decides. */
async function judgeFiles(
  host: Host,
  args: readonly string[],
  flags: WaitFlags,
  conditions: readonly Condition[],
  printer: OutcomePrinter,
): Promise<void> {
  if (args.length === 0 && !hasFiles(flags)) throw new CliError(nothingNamed)
  if (args.length > 0) {
    const missing = await filesNamed(host, flags).then(
      () => [],
      (error: unknown) => (error instanceof AggregateError ? error.errors : [error]),
    )
    throw new AggregateError([...missing, new CliError(`error: ${localNeedsFiles}`)])
  }
  for (const { object } of await loadManifests(host, flags)) {
    const resource = localResource(object)
    for (const { isMet } of conditions) {
      if (!(await isMet(object))) {
        throw new CliError(
          `the condition is not met by ${resource.plural}/${object.metadata.name}, and files do not change`,
        )
      }
      await printer.print(resource, { verb: 'condition met', object })
    }
  }
}

/** The objects to wait for. One that is to be created or deleted need not be there. */
async function objectsOf(
  host: Host,
  session: Session,
  args: readonly string[],
  flags: WaitFlags,
  deadline: number,
): Promise<Targets<Found>> {
  const isForCreation = isFor(flags, 'create')
  const isForDeletion = isFor(flags, 'delete')
  if (isForCreation && hasFiles(flags)) {
    const found = requireAll(await findTargets(host, session, args, 'wait', flags))
    if (found.length === 0) throw new CliError('timed out waiting for the condition')
    return { found, unread: [] }
  }
  if (isForCreation) {
    const selections = await selectionsOf(host, session, args, flags)
    if (selections.every(({ name }) => name !== undefined)) {
      return { found: selections.map((each) => awaitedOf(session, each)), unread: [] }
    }
    await awaitFirst(host, session, selections, flags, deadline)
  }
  const { found, unread } = await findTargets(host, session, args, 'wait', flags)
  if (!isForDeletion) return { found, unread }
  const isGone = (error: unknown): boolean => hasReason(error, 'NotFound')
  const isFatal = (each: Target | RefusedTarget): boolean => !('refusal' in each && isGone(each.refusal))
  const unreadable = unread.flatMap((error) => {
    if (!(error instanceof ListError)) return isGone(error) ? [] : [error]
    const errors = error.errors.filter((each) => !isGone(each))
    return errors.length === 0 ? [] : [new ListError(errors)]
  })
  return { found: found.filter(isFatal), unread: unreadable }
}

async function selectionsOf(
  host: Host,
  session: Session,
  args: readonly string[],
  flags: WaitFlags,
): Promise<readonly Selection[]> {
  const manifests = await loadManifests(host, flags, { args })
  requireTargets(args, flags)
  return hasFiles(flags)
    ? selectManifests(session, manifests.filter(labelFilter(flags.selector)))
    : selectObjects(args, 'wait', await session.catalog(), flags)
}

/** Resolves when there is an object that the selectors find. Rejects with a CliError where none has come in time. */
async function awaitFirst(
  host: Host,
  session: Session,
  selections: readonly Selection[],
  flags: WaitFlags,
  deadline: number,
): Promise<void> {
  const timeoutMs = Math.max(1, deadline - host.environment.clock.now())
  const first = selections.map(async (selection) => {
    const options = listOptions(session, selection, flags)
    const found = await awaitAny(host, session.client, selection.resource, options, timeoutMs)
    if (found.length === 0) throw new CliError('timed out waiting for the condition')
  })
  await Promise.all(first)
}

function awaitedOf(session: Session, { resource, name = '', namespace = session.namespace }: Selection): Awaited {
  return { resource, key: { name, ...(resource.namespaced ? { namespace } : {}) } }
}

/** What all of `--for` ask for, creation first. Throws a CliError where one is nothing that can be waited for, or there is none. */
function conditionsOf(flags: WaitFlags): readonly Condition[] {
  if (flags.for.length === 0) throw new CliError('unrecognized condition: []')
  const conditions = flags.for.map((text) => ({
    isMet: conditionOf(text),
    isCreation: text.toLowerCase() === 'create',
  }))
  return conditions.toSorted((a, b) => Number(b.isCreation) - Number(a.isCreation))
}

function conditionOf(text: string): IsOver {
  const lower = text.toLowerCase()
  if (lower === 'delete') return (object) => object === undefined
  if (lower === 'create') return (object) => object !== undefined
  const [kind = ''] = text.split('=', 1)
  const rest = text.slice(kind.length + 1)
  // A condition without a name is none that an object has, and is waited for all the same.
  if (text.startsWith('condition=')) return statusCondition(rest)
  if (text.startsWith('jsonpath=')) return pathCondition(rest)
  throw new CliError(`unrecognized condition: ${JSON.stringify(text)}`)
}

function statusCondition(text: string): IsOver {
  const [name = '', wanted = 'true'] = splitOnce(text, '=')
  return (object) => {
    if (object === undefined) return false
    const { status, metadata } = object as KubernetesObject & { readonly status?: unknown }
    const { conditions, observedGeneration } = isJsonObject(status) ? status : {}
    const found = Array.isArray(conditions)
      ? conditions.filter(isJsonObject).find(({ type }) => String(type).toLowerCase() === name.toLowerCase())
      : undefined
    if (found === undefined) return false
    // What a controller says of an earlier spec says nothing of this one.
    const observed = found.observedGeneration ?? observedGeneration
    if (typeof observed === 'number' && observed < (metadata.generation ?? 0)) return false
    return String(found.status).toLowerCase() === wanted.toLowerCase()
  }
}

const pathExample = "--for=jsonpath='{.status.readyReplicas}'=3"

function pathCondition(text: string): IsOver {
  // Two equal signs are those of a filter.
  const [path = '', wanted, ...more] = text.split(/(?<!=)=(?!=)/)
  if (more.length > 0) {
    throw new CliError(`jsonpath wait format must be ${pathExample} or --for=jsonpath='{.status.readyReplicas}'`)
  }
  if (path === '') throw new CliError('jsonpath expression cannot be empty')
  const template = readPath(completePath(path))
  const value = wanted?.replace(/^['"]+|['"]+$/g, '')
  if (value === '') throw new CliError(`jsonpath wait has to have a value after equal sign, like ${pathExample}`)
  return (object) => {
    if (object === undefined) return false
    const results = findJsonPath(template, object, { requireKeys: false }).flat()
    if (results.length > 1) throw new CliError('given jsonpath expression matches more than one value')
    const [found] = results
    if (found === undefined || found === null) return false
    if (value !== undefined && typeof found === 'object')
      throw new CliError('jsonpath leads to a nested object or list which is not supported')
    return value === undefined || String(found).trim() === value.trim()
  }
}

function readPath(expression: string) {
  try {
    return parseJsonPath(expression)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // kubectl sees these only when it has an object.
    if (isSeenLate(why)) throw new CliError(why)
    throw new CliError(`error parsing jsonpath ${expression}, ${why}`)
  }
}
