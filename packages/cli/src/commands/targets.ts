import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, loadReadable, type ManifestFlags, requireSources } from '../manifests/load-manifests.ts'
import type { ReadManifests } from '../manifests/parse-manifests.ts'
import { getNamed, listAll } from '../resources/fetch.ts'
import {
  listOptions,
  nothingNamed,
  type Selection,
  type SelectorFlags,
  selectObjects,
} from '../resources/select-objects.ts'
import type { Session } from '../session.ts'
import { type Placed, placeReadable, throwAll } from './manifest-command.ts'

/** Flags of commands that act on objects which are there: by name, of files, or as selectors say. */
export interface TargetFlags extends SelectorFlags, ManifestFlags {
  /** Objects asked for in one request, of those that are not named; 500 by default. */
  readonly chunkSize?: number
  /** Of objects that are named: this subresource in their place. */
  readonly subresource?: string
  /** Nothing is done where one is missing. */
  readonly stopsAtMissing?: boolean
  /** A type alone stands for all its objects. */
  readonly typesMeanAll?: boolean
  /** What files have is taken as it is there: whether the server has it does not matter. */
  readonly filesAsTheyAre?: boolean
  /** Objects of files are in no namespace but the one that they name. */
  readonly takesNoNamespace?: boolean
  /** Files may only have built-in kinds. */
  readonly typed?: boolean
  /** `all` is a selector, which names may not stand beside. */
  readonly allSelects?: boolean
  /** The name of the command where it needs objects, for the message that there are none. */
  readonly needsObjects?: string
}

/** An object to act on, as the server has it. */
export interface Target {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
  readonly object: KubernetesObject
  /** The file that has it. */
  readonly source?: string
  /** It is meant before already, and may be another by the time that it is acted on. */
  readonly isRepeated?: true
}

/** An object that is meant and may not be acted on. */
export interface RefusedTarget {
  readonly refusal: unknown
}

export interface Targets<T = Target> {
  /** In the order in which they are meant. */
  readonly found: readonly (T | RefusedTarget)[]
  /** Why others that files have are not among them: kubectl tells these last. */
  readonly unread: readonly unknown[]
}

/** The objects that were found. Rejects with why others were not, if there are some. */
export function requireAll({ found, unread }: Targets): readonly Target[] {
  const errors = [...found.flatMap((each) => ('refusal' in each ? [each.refusal] : [])), ...unread]
  if (errors.length > 0) throw new AggregateError(errors)
  return found.flatMap((each) => ('refusal' in each ? [] : [each]))
}

/** Does something with each, and throws in the end what failed, each error in its place. */
export async function forEachTarget<T extends object>(
  { found, unread }: Targets<T>,
  act: (target: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  for (const each of found) {
    try {
      if ('refusal' in each) throw each.refusal
      await act(each)
    } catch (error) {
      errors.push(error)
    }
  }
  throwAll(errors, unread)
}

/** Says that there is no object that was meant. */
export function tellNothingFound({ stderr }: Host, { namespace }: Session): void {
  stderr.write(`No resources found in ${namespace} namespace.\n`)
}

/** Throws a CliError where neither arguments nor files name anything. */
export function requireTargets(args: readonly string[], { allSelects = false, all, ...flags }: TargetFlags): void {
  if (args.length > 0 || hasFiles(flags)) return
  const { selector, fieldSelector } = flags
  const isSelective = selector !== undefined || fieldSelector !== undefined || (allSelects && all === true)
  throw new CliError(isSelective ? 'at least one resource must be specified to use a selector' : nothingNamed)
}

/**
 * The objects that a command's arguments, files and selectors mean. What is not there does not keep the others from
 * being found. Rejects with a CliError where types are named and nothing says which of their objects are meant.
 */
export async function findTargets(
  host: Host,
  session: Session,
  args: readonly string[],
  verb: string,
  flags: TargetFlags,
): Promise<Targets> {
  const read = await loadReadable(host, flags, { args, ...(flags.typed === true ? { decoding: 'typed' } : {}) })
  requireTargets(args, flags)
  if (hasFiles(flags)) return requireSome(await targetsOfFiles(session, read, flags), flags)
  const { all, typesMeanAll, selector, fieldSelector } = flags
  const isSelective = all === true || typesMeanAll === true || selector !== undefined || fieldSelector !== undefined
  const { all: _, ...selectors } = flags
  const selections = selectObjects(args, verb, await session.catalog(), flags.allSelects === true ? flags : selectors)
  const found: (Target | RefusedTarget)[] = []
  for (const selection of selections) {
    if (selection.name === undefined && !isSelective) {
      throw new CliError('resource(s) were provided, but no name was specified')
    }
    try {
      for (const target of await objectsOf(session, selection, flags)) found.push(target)
    } catch (error) {
      const isPassable = hasReason(error, 'NotFound') || hasReason(error, 'Forbidden')
      if (!isPassable || flags.stopsAtMissing === true) throw error
      found.push({ refusal: error })
    }
  }
  return requireSome({ found, unread: [] }, flags)
}

/** Throws a refusal, or first what is wrong with how objects are named: what they are is not asked for. */
export async function refuseWithTargets(
  host: Host,
  session: Session,
  args: readonly string[],
  flags: TargetFlags,
  refusal: unknown,
): Promise<never> {
  await requireSources(host, flags, args)
  requireTargets(args, flags)
  if (!hasFiles(flags)) selectObjects(args, 'edit', await session.catalog(), flags)
  throw refusal
}

function requireSome(targets: Targets, { needsObjects }: TargetFlags): Targets {
  if (needsObjects === undefined || targets.found.length + targets.unread.length > 0) return targets
  throw new CliError(`no objects passed to ${needsObjects}`)
}

/** What files have: as the server has it, unless it is to be taken as it is there. */
async function targetsOfFiles(session: Session, read: ReadManifests, flags: TargetFlags): Promise<Targets> {
  const isLatest = flags.filesAsTheyAre !== true
  const retrieve = async (placed: Placed): Promise<Placed> => {
    const key = keyOf(placed.object)
    // What has no name is for who acts on it to refuse.
    if (key.name === '') return placed
    if (placed.resource.namespaced && !key.namespace) throw noNamespace(placed)
    return { ...placed, object: await getNamed(session.client, placed.resource, key, flags.subresource) }
  }
  const places = flags.takesNoNamespace === true ? { ...session, namespace: '', givenNamespace: undefined } : session
  const { placed, failures } = await placeReadable(places, read, flags, isLatest ? retrieve : undefined)
  const seen = new Set<string>()
  const found = placed.map((each): Target | RefusedTarget => {
    if ('refusal' in each) return each
    const target = placedTarget(each)
    const { group, plural } = target.resource
    const id = [group, plural, target.key.namespace, target.key.name].join('/')
    if (seen.has(id)) return { ...target, isRepeated: true }
    seen.add(id)
    return target
  })
  return { found, unread: failures }
}

function noNamespace({ resource: { group, version, plural }, object }: Placed): CliError {
  return new CliError(
    `no namespace set on resource ${group}/${version}, Resource=${plural} ${JSON.stringify(object.metadata.name)}`,
  )
}

/** An object of a file, as it is there or as the server has it. */
const placedTarget = ({ resource, object, source }: Placed): Target => ({
  resource,
  key: keyOf(object),
  object,
  source,
})

/** The objects of a selection, as the server has them. */
export async function objectsOf(
  session: Session,
  selection: Selection,
  flags: TargetFlags,
): Promise<readonly Target[]> {
  const { resource, name } = selection
  const { client } = session
  if (name !== undefined) {
    const namespace = selection.namespace ?? session.namespace
    const key = { name, ...(resource.namespaced ? { namespace } : {}) }
    const object = await getNamed(client, resource, key, flags.subresource)
    return [{ resource, key, object }]
  }
  const objects = await listAll(client, resource, listOptions(session, selection, flags), flags.chunkSize)
  return objects.map((object) => ({ resource, key: keyOf(object), object }))
}

/** What names an object among those of its kind. */
export function keyOf({ metadata: { name = '', namespace } }: KubernetesObject): ObjectKey {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}
