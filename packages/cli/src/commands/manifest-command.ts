import { type KubernetesObject, type LabelSelectorMatcher, parseLabelSelector } from '@coracle/api'
import { type DiscoveredResource, isUnreachableServer } from '@coracle/client'
import { CliError, SummaryError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import type { Manifest, ReadManifests } from '../manifests/parse-manifests.ts'
import { placeObject } from '../manifests/place-object.ts'
import { type Outcome, type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { type Selection, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
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
  /** Whether objects are printed once all are done, several as one list, and not at all where one failed. A wrong `-o` is told then. */
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
  const printsWords = (flags.output ?? '') === '' || flags.output === 'name'
  const isLate = asList && !printsWords
  const printer = isLate ? undefined : await OutcomePrinter.for(host, flags)
  const use = { isWritten: true, mayBeNone: needsObjects !== undefined }
  const read = await loadReadable(host, flags, use)
  if (read.manifests.length === 0 && read.failures.length > 0) throw new AggregateError(read.failures)
  await withSession(host, flags, async (session) => {
    const { placed, failures } = await placeReadable(session, read, flags)
    if (placed.length === 0 && failures.length === 0 && needsObjects !== undefined) {
      throw new CliError(`no objects passed to ${needsObjects}`)
    }
    const errors: unknown[] = []
    const done: Outcomes = []
    for (const each of placed) {
      const { resource } = each
      try {
        const outcome = await act(session, each)
        done.push({ resource, ...outcome })
        await printer?.print(resource, outcome)
      } catch (error) {
        if (isUnreachableServer(error)) throw error
        errors.push(error)
      }
    }
    errors.push(...failures)
    if (errors.length > 0) throw new AggregateError(errors, errors.map(describeError).join('\n'))
    if (isLate) await printAll(host, flags, done)
    await afterwards?.(session, done)
  })
}

type Outcomes = (Done & Outcome)[]

/** One object as itself, several as a list. */
async function printAll(host: Host, flags: OutcomeFlags, outcomes: Outcomes): Promise<void> {
  const printer = await OutcomePrinter.for(host, flags)
  const [first, ...others] = outcomes
  if (first === undefined) return
  if (others.length === 0) await printer.print(first.resource, first)
  else await printer.printList(outcomes)
}

/** Whether the labels that a manifest has in its file are wanted. Throws a CliError on a malformed selector. */
export function labelFilter(selector: string | undefined): (manifest: Manifest) => boolean {
  if (selector === undefined) return () => true
  const parsed = parseSelectorOfFiles(selector)
  return ({ object }) => parsed.matches(object.metadata.labels)
}

function parseSelectorOfFiles(selector: string): LabelSelectorMatcher {
  try {
    return parseLabelSelector(selector)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new CliError(`the provided selector ${JSON.stringify(selector)} is not valid: ${reason}`)
  }
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

/** The objects of files that a selector lets through, with their resources; and, in the order of the files, why others have none. */
export async function placeReadable(
  session: Session,
  { entries }: ReadManifests,
  { selector }: { readonly selector?: string },
): Promise<{ readonly placed: readonly Placed[]; readonly failures: readonly unknown[] }> {
  // Without files the selector is for the server to read.
  const isWanted = labelFilter(entries.length === 0 ? undefined : selector)
  const placed: Placed[] = []
  const failures: unknown[] = []
  for (const entry of entries) {
    if ('failure' in entry) failures.push(entry.failure)
    else {
      await placeManifest(session, entry).then(
        (each) => isWanted(entry) && placed.push(each),
        (error: unknown) => {
          // The next one would fare no better.
          if (isUnreachableServer(error)) throw error
          failures.push(error)
        },
      )
    }
  }
  return { placed, failures }
}

/** The objects that files name, for commands that take those instead of arguments. */
export async function selectManifests(session: Session, manifests: readonly Manifest[]): Promise<readonly Selection[]> {
  const placed = await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))
  return placed.map(selectionOf)
}

/**
 * What the arguments or the files of a command that shows objects mean. Why files have others is told, as kubectl does, without `error:`
 * before it.
 */
export async function selectionsOf(
  session: Session,
  args: readonly string[],
  read: ReadManifests,
  verb: string,
  flags: SelectorFlags & ManifestFlags,
): Promise<{ readonly selections: readonly Selection[]; readonly failures: readonly unknown[] }> {
  if (flags.filename.length === 0) {
    return { selections: selectObjects(args, verb, await session.catalog(), flags), failures: [] }
  }
  const { placed, failures } = await placeReadable(session, read, flags)
  const told = failures.map((error) => (error instanceof CliError ? new SummaryError(error.message) : error))
  return { selections: placed.map(selectionOf), failures: told }
}

/** The selection that an object's own name is. */
export const selectionOf = ({ resource, object: { metadata } }: Placed): Selection => ({
  resource,
  name: metadata.name ?? '',
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
})

/**
 * Does something where there is something to do it with, and rejects in the end with what failed and, after that, why other objects of
 * files could not be read or placed.
 */
export async function withFailures(
  failures: readonly unknown[],
  isNothingLeft: boolean,
  act: () => Promise<void>,
): Promise<void> {
  if (failures.length === 0) return act()
  const errors: unknown[] = []
  if (!isNothingLeft) {
    await act().catch((error: unknown) => {
      errors.push(...(error instanceof AggregateError ? error.errors : [error]))
    })
  }
  throw new AggregateError([...errors, ...failures])
}
