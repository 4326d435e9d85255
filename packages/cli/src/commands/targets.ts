import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import { getNamed, listAll } from '../resources/fetch.ts'
import {
  listOptions,
  nothingNamed,
  type Selection,
  type SelectorFlags,
  selectObjects,
} from '../resources/select-objects.ts'
import type { Session } from '../session.ts'
import { type Placed, placeReadable, selectionOf } from './manifest-command.ts'

/** Flags of commands that act on objects which are there: by name, of files, or as selectors say. */
export interface TargetFlags extends SelectorFlags, ManifestFlags {
  /** Of objects that are named: this subresource in their place. */
  readonly subresource?: string
  /** Nothing is done where one is missing. */
  readonly stopsAtMissing?: boolean
  /** A type alone stands for all its objects. */
  readonly typesMeanAll?: boolean
  /** What files have is taken as it is there: whether the server has it does not matter. */
  readonly filesAsTheyAre?: boolean
}

/** An object to act on, as the server has it. */
export interface Target {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
  readonly object: KubernetesObject
}

export interface Targets {
  readonly found: readonly Target[]
  /** Why others of those that were named are not among them. */
  readonly errors: readonly unknown[]
}

/** Throws a CliError where neither arguments nor as many files name anything. */
export function requireTargets(args: readonly string[], files: number): void {
  if (args.length === 0 && files === 0) throw new CliError(nothingNamed)
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
  const read = await loadReadable(host, flags, { args })
  requireTargets(args, read.entries.length)
  const { placed, failures } = await placeReadable(session, read, flags)
  const isOfFiles = read.entries.length > 0
  if (flags.filesAsTheyAre === true && isOfFiles) return { found: placed.map(placedTarget), errors: failures }
  const selections = isOfFiles ? placed.map(selectionOf) : selectObjects(args, verb, await session.catalog(), flags)
  const { all, typesMeanAll, selector, fieldSelector } = flags
  const isSelective = all === true || typesMeanAll === true || selector !== undefined || fieldSelector !== undefined
  const found: Target[] = []
  const errors: unknown[] = []
  for (const selection of selections) {
    if (selection.name === undefined && !isSelective) {
      throw new CliError('resource(s) were provided, but no name was specified')
    }
    try {
      found.push(...(await objectsOf(session, selection, flags)))
    } catch (error) {
      const isPassable = hasReason(error, 'NotFound') || hasReason(error, 'Forbidden')
      if (!isPassable || flags.stopsAtMissing === true) throw error
      errors.push(error)
    }
  }
  return { found, errors: [...errors, ...failures] }
}

/** An object of a file, as it is there. */
const placedTarget = ({ resource, object }: Placed): Target => ({ resource, key: keyOf(object), object })

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
  const objects = await listAll(client, resource, listOptions(session, selection, flags))
  return objects.map((object) => ({ resource, key: keyOf(object), object }))
}

/** What names an object among those of its kind. */
export function keyOf({ metadata: { name = '', namespace } }: KubernetesObject): ObjectKey {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}
