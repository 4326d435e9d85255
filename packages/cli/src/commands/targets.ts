import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import type { Manifest } from '../manifests/parse-manifests.ts'
import { listAll } from '../resources/fetch.ts'
import {
  listOptions,
  nothingNamed,
  type Selection,
  type SelectorFlags,
  selectObjects,
} from '../resources/select-objects.ts'
import type { Session } from '../session.ts'
import { placeManifest, requireFilesAlone, selectManifests } from './manifest-command.ts'

/** Flags of commands that act on objects which are there: by name, of files, or as selectors say. */
export interface TargetFlags extends SelectorFlags, ManifestFlags {
  /** Every object of the types that are named. */
  readonly all?: boolean
  /** Of objects that are named: this subresource in their place. */
  readonly subresource?: string
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
  const { manifests, failures } = await loadReadable(host, flags)
  if (manifests.length === 0 && failures.length > 0) return { found: [], errors: failures }
  requireTargets(args, manifests.length)
  if (flags.filesAsTheyAre === true && manifests.length > 0) {
    return { found: await placedTargets(session, manifests, args), errors: failures }
  }
  const selections =
    manifests.length > 0
      ? await selectManifests(session, manifests, args)
      : selectObjects(args, verb, await session.catalog(), flags)
  const isSelective = flags.all === true || flags.selector !== undefined || flags.fieldSelector !== undefined
  const found: Target[] = []
  const errors = [...failures]
  for (const selection of selections) {
    if (selection.name === undefined && !isSelective) {
      throw new CliError('resource(s) were provided, but no name was specified')
    }
    try {
      found.push(...(await objectsOf(session, selection, flags)))
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Forbidden')) throw error
      errors.push(error)
    }
  }
  return { found, errors }
}

/** The objects of files, as they are there. */
async function placedTargets(
  session: Session,
  manifests: readonly Manifest[],
  args: readonly string[],
): Promise<readonly Target[]> {
  requireFilesAlone(args)
  const placed = await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))
  return placed.map(({ resource, object }) => ({ resource, key: keyOf(object), object }))
}

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
    const { subresource } = flags
    const object = await client.get<KubernetesObject>(resource, key, subresource === undefined ? {} : { subresource })
    return [{ resource, key, object }]
  }
  const objects = await listAll(client, resource, listOptions(session, selection, flags))
  return objects.map((object) => ({ resource, key: keyOf(object), object }))
}

/** What names an object among those of its kind. */
export function keyOf({ metadata: { name = '', namespace } }: KubernetesObject): ObjectKey {
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}
