import { type KubernetesObject, parseLabelSelector } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import type { Manifest } from '../manifests/parse-manifests.ts'
import { placeObject } from '../manifests/place-object.ts'
import { type Outcome, type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import type { Selection } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface ManifestCommandFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags {
  readonly validate: keyof typeof fieldValidation
  readonly selector?: string
  /** Who writes, for field ownership; the command's own name unless given. */
  readonly fieldManager?: string
}

/** An object of a manifest, and where it goes. */
export interface Placed {
  readonly resource: DiscoveredResource
  readonly object: KubernetesObject
  readonly source: string
}

export interface ManifestCommand {
  /** Whether several objects are printed as one list. */
  readonly asList: boolean
  /** Refuses where no object is left to do something with: the command's name, for the message. */
  readonly needsObjects?: string
  /** What follows once all are done, with what came of each; not where one failed. */
  readonly afterwards?: (session: Session, done: readonly Done[]) => Promise<void>
}

/** What came of an object of a manifest. */
export interface Done {
  readonly resource: DiscoveredResource
  readonly object: KubernetesObject
}

/**
 * Does something with each object of some files, in their order, and prints what came of it. What fails is reported and
 * the others still done; rejects with all failures in the end.
 */
export async function forEachManifest(
  host: Host,
  flags: ManifestCommandFlags,
  { asList, needsObjects, afterwards }: ManifestCommand,
  act: (session: Session, placed: Placed) => Promise<Outcome>,
): Promise<void> {
  if (flags.filename.length === 0) throw new CliError('must specify one of -f and -k')
  const printer = await OutcomePrinter.for(host, flags, { asList })
  const use = { isWritten: true, mayBeNone: needsObjects !== undefined }
  const read = await loadReadable(host, flags, use)
  const manifests = read.manifests.filter(labelFilter(flags.selector))
  if (manifests.length === 0) {
    if (read.failures.length > 0) throw new AggregateError(read.failures)
    if (needsObjects !== undefined) throw new CliError(`no objects passed to ${needsObjects}`)
  }
  await withSession(host, flags, async (session) => {
    const errors = [...read.failures]
    const done: Done[] = []
    for (const manifest of manifests) {
      try {
        const { resource, ...placed } = await placeManifest(session, manifest)
        const outcome = await act(session, { resource, ...placed })
        done.push({ resource, object: outcome.object })
        await printer.print(resource, outcome)
      } catch (error) {
        errors.push(error)
      }
    }
    await printer.end()
    if (errors.length > 0) throw new AggregateError(errors, errors.map(describeError).join('\n'))
    await afterwards?.(session, done)
  })
}

/** Whether the labels that a manifest has in its file are wanted. Throws a BadRequest on a malformed selector. */
export function labelFilter(selector: string | undefined): (manifest: Manifest) => boolean {
  if (selector === undefined) return () => true
  const parsed = parseLabelSelector(selector)
  return ({ object }) => parsed.matches(object.metadata.labels)
}

/** Finds the resource of a manifest's kind. Rejects with a CliError where the server has no such kind. */
export async function placeManifest(session: Session, { object, source }: Manifest): Promise<Placed> {
  const catalog = await session.catalog()
  const { apiVersion, kind, metadata } = object
  const resource = catalog.ofKind(apiVersion, kind)
  if (resource === undefined) {
    throw new CliError(
      `resource mapping not found for name: "${metadata.name ?? ''}" namespace: "${metadata.namespace ?? ''}" from "${source}": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    )
  }
  return { resource, object: placeObject(object, resource, session), source }
}

/** The API's words for `--validate`; `true` and `false` are kubectl's of old. */
export const fieldValidation = {
  strict: 'Strict',
  true: 'Strict',
  warn: 'Warn',
  ignore: 'Ignore',
  false: 'Ignore',
} as const

/** The objects that files name, for commands that take those instead of arguments. */
export async function selectManifests(
  session: Session,
  manifests: readonly Manifest[],
  args: readonly string[],
): Promise<readonly Selection[]> {
  requireFilesAlone(args)
  const placed = await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))
  return placed.map(({ resource, object: { metadata } }) => ({
    resource,
    name: metadata.name ?? '',
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  }))
}

/** Throws a CliError where there are arguments beside files. */
export function requireFilesAlone(args: readonly string[]): void {
  if (args.length === 0) return
  throw new CliError('when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well')
}
