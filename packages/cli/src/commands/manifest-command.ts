import { type KubernetesObject, type LabelSelectorMatcher, parseLabelSelector } from '@coracle/api'
import { type DiscoveredResource, isUnreachableServer } from '@coracle/client'
import { CliError, ListError, SummaryError } from '../cli-error.ts'
import { describePart, reasonOf } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import { ManifestFailures, UnrecognizedError } from '../manifests/manifest-failures.ts'
import type { Manifest, ManifestList, ReadManifests } from '../manifests/parse-manifests.ts'
import { placeObject, requireNamespace } from '../manifests/place-object.ts'
import { lazyPrinter, type Outcome, type OutcomeFlags, type OutcomePrinter } from '../output/outcome-printer.ts'
import type { LateFlags } from '../refused-value.ts'
import { getNamed } from '../resources/fetch.ts'
import { type Selection, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface ManifestCommandFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags, LateFlags {
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
  /** Whether `-o` prints objects once all are done, several as one list, and none where one failed. What is wrong with it is told then. */
  readonly asList: boolean
  /** Refuses where no object is left to do something with: the command's name, for the message. */
  readonly needsObjects?: string
  /** What could not be read or placed is told before what could not be done. */
  readonly unreadFirst?: true
  /** Is called before files are read, and says what is wrong with the flags. */
  readonly prepare?: (session: Session) => Promise<Preparation>
}

/** What else there is to do before and after something is done with objects. */
export interface Preparation {
  /** Is called with all objects that go somewhere, and gives them as they are to be. What it rejects with ends the command. */
  readonly before?: (placed: readonly Placed[]) => Promise<readonly Placed[]>
  /** Follows once all are done, with what came of each; not where one failed. */
  readonly afterwards?: (done: readonly Done[]) => Promise<void>
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
  { asList, needsObjects, unreadFirst, prepare }: ManifestCommand,
  act: (session: Session, placed: Placed) => Promise<Outcome>,
): Promise<void> {
  // As with kubectl, a template without `-o` is for each object, and is read when one is printed.
  const isLate = asList && !['', 'name'].includes(flags.output ?? '')
  const printer = lazyPrinter(host, flags)
  if (!asList) await printer()
  const isValidated = fieldValidation[flags.validate] !== 'Ignore'
  await withSession(host, flags, async (session) => {
    const { before, afterwards } = (await prepare?.(session)) ?? {}
    const read = await loadReadable(host, flags, { decoding: isValidated ? 'written' : 'unstructured' })
    if (before === undefined && read.manifests.length === 0 && read.failures.length > 0) {
      throw new AggregateError(read.failures)
    }
    const { placed, failures } = await placeReadable(session, read, flags)
    if (placed.length === 0 && failures.length === 0 && needsObjects !== undefined) {
      throw new CliError(`no objects passed to ${needsObjects}`)
    }
    const errors: unknown[] = []
    const unread = unreadFirst === true ? besideRefusals(refusalsOf(placed), failures) : failures
    const done: Outcomes = []
    for (const each of unreadFirst === true ? ((await before?.(wellPlaced(placed))) ?? wellPlaced(placed)) : placed) {
      try {
        if ('refusal' in each) throw each.refusal
        const { resource } = each
        const outcome = await act(session, each)
        done.push({ resource, ...outcome })
        if (!isLate) await (await printer()).print(resource, outcome)
      } catch (error) {
        if (isUnreachableServer(error)) throw error
        errors.push(error)
      }
    }
    throwAll(errors, unread, unreadFirst)
    if (isLate) await printAll(printer, done)
    await afterwards?.(done)
  })
}

/** Throws errors, if there are some: what could not be read is, as with kubectl, one error beside others. */
export function throwAll(errors: readonly unknown[], unread: readonly unknown[], unreadFirst = false): void {
  const isMixed = errors.length > 0 && unread.length > 0
  const read = isMixed ? [new AggregateError(unread)] : unread
  const all = unreadFirst ? [...read, ...errors] : [...errors, ...read]
  if (all.length > 0) throw new AggregateError(all)
}

/** What could not be read is, as with kubectl, one error beside others. */
export const asOneBeside = (others: readonly unknown[], unread: readonly unknown[]): readonly unknown[] =>
  others.length > 0 && unread.length > 1 ? [new AggregateError(unread)] : unread

/** Why objects go nowhere, and after that why others could not be read. */
export const besideRefusals = (refusals: readonly unknown[], unread: readonly unknown[]): readonly unknown[] => [
  ...refusals,
  ...asOneBeside(refusals, unread),
]

type Outcomes = (Done & Outcome)[]

/** One object as itself, several as a list. */
async function printAll(printerOf: () => Promise<OutcomePrinter>, outcomes: Outcomes): Promise<void> {
  const printer = await printerOf()
  const [first, ...others] = outcomes
  if (first === undefined) return
  if (others.length === 0) await printer.print(first.resource, first)
  else await printer.printList(outcomes)
}

/** Whether the labels that an object has are wanted. Throws a CliError on a malformed selector. */
export function labelFilter(selector: string | undefined): (manifest: Pick<Manifest, 'object'>) => boolean {
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

/** Finds the resource of a manifest's kind. Rejects with a CliError where the server has no such kind, or its namespace is not the flag's. */
export async function placeManifest(session: Session, manifest: Manifest): Promise<Placed> {
  const placed = await placeAnywhere(session, manifest)
  requireNamespace(placed.object, placed.resource, session)
  return placed
}

/** The same, whatever its namespace. */
async function placeAnywhere(session: Session, manifest: Manifest): Promise<Placed> {
  const { object, source, list } = manifest
  const catalog = await session.catalog().catch(async (error: unknown) => {
    throw await unrecognized(manifest, error)
  })
  const { apiVersion, kind, metadata } = object
  const resource = catalog.ofKind(apiVersion, kind)
  if (resource === undefined) {
    const isValidated = manifest.isWritten === true && list === undefined
    if (isValidated && catalog.hasVersion(apiVersion)) await lookForCustomKinds(session, source)
    if (list !== undefined)
      throw new CliError(`unable to recognize no matches for kind "${kind}" in version "${apiVersion}"`)
    throw new CliError(
      `resource mapping not found for name: "${metadata.name ?? ''}" namespace: "${metadata.namespace ?? ''}" from "${source}": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    )
  }
  return { resource, object: placeObject(object, resource, { ...session, givenNamespace: undefined }), source }
}

/** Rejects, in kubectl's words, where who asks may not see custom kinds: it looks there for one that its version does not have. */
async function lookForCustomKinds(session: Session, source: string): Promise<void> {
  const resource = (await session.catalog()).ofKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
  if (resource === undefined) return
  await session.client.list(resource).catch((error: unknown) => {
    if (isUnreachableServer(error)) throw error
    const reason = error instanceof Error ? error.message : error
    throw new CliError(invalidDataText(source, `failed to check CRD: failed to list CRDs: ${reason}`))
  })
}

const invalidDataText = (source: string, reason: string): string =>
  `error validating "${source}": error validating data: ${reason}; if you choose to ignore these errors, turn validation off with --validate=false`

/** The API's words for `--validate`; `true` and `false` are kubectl's of old. */
export const fieldValidation = {
  strict: 'Strict',
  true: 'Strict',
  warn: 'Warn',
  ignore: 'Ignore',
  false: 'Ignore',
} as const

/** An object of a file that goes nowhere: its namespace is not the one that the flag names. */
export interface Misplaced {
  readonly refusal: unknown
}

export interface PlacedManifests {
  /** In the order of the files. */
  readonly placed: readonly (Placed | Misplaced)[]
  /** Why others could not be read, or are of no kind that the server has: kubectl tells these last. */
  readonly failures: readonly unknown[]
}

/**
 * The objects of files that a selector lets through, with their resources. With `retrieve`, what that makes of them before their namespaces
 * and, as the server has them, their labels are looked at.
 */
export async function placeReadable(
  session: Session,
  { entries }: ReadManifests,
  { selector }: { readonly selector?: string },
  retrieve?: (placed: Placed) => Promise<Placed>,
): Promise<PlacedManifests> {
  // Without files the selector is for the server to read.
  const isWanted = labelFilter(entries.length === 0 ? undefined : selector)
  const placed: (Placed | Misplaced)[] = []
  const failures = new ManifestFailures()
  for (const entry of entries) {
    try {
      if ('failure' in entry) throw entry.failure
      const written = await placeAnywhere(session, entry)
      const each = retrieve === undefined ? written : await retrieve(written)
      if (isWanted(each)) placed.push(withRefusal(each, session))
    } catch (error) {
      if (isUnreachableServer(error)) throw error
      failures.add(error, entry)
    }
  }
  return { placed, failures: failures.errors }
}

/** Why the kind of an object is not known, in kubectl's words where no server can be asked: it validates first what is written. */
async function unrecognized({ source, isWritten, list }: Manifest, error: unknown): Promise<unknown> {
  if (!isUnreachableServer(error)) return error
  const { isNobody, plainUnreachable } = await import('../unreachable.ts')
  const validation = isWritten === true ? plainUnreachable(error, 'Get', '/openapi/v2?timeout=32s') : undefined
  if (validation !== undefined) {
    const how = list === undefined ? 'failed to download openapi: ' : ''
    return new UnrecognizedError(invalidDataText(source, `${how}${validation}`), source)
  }
  const plain = isNobody(error) ? plainUnreachable(error, 'Get', '/api?timeout=32s') : undefined
  return plain === undefined ? error : new UnrecognizedError(`unable to recognize "${source}": ${plain}`, list)
}

function withRefusal(placed: Placed, session: Session): Placed | Misplaced {
  try {
    requireNamespace(placed.object, placed.resource, session)
    return placed
  } catch (refusal) {
    return { refusal }
  }
}

/** The objects that files name, for commands that take those instead of arguments. */
export async function selectManifests(session: Session, manifests: readonly Manifest[]): Promise<readonly Selection[]> {
  const placed = await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))
  return placed.map(selectionOf)
}

/**
 * Does something with the objects of files in their order, and stops at the first that cannot be read or placed, or with which it fails; at
 * the end of its list where it is an item of one.
 * With `retrieve`, what that makes of them before their labels and namespaces are looked at.
 */
export async function visitManifests(
  session: Session,
  { entries }: ReadManifests,
  act: (placed: Placed, manifest: Manifest) => Promise<void>,
  isWanted: (manifest: Manifest) => boolean = () => true,
  retrieve?: (placed: Placed) => Promise<Placed>,
): Promise<void> {
  const visit = async (entry: ReadManifests['entries'][number]) => {
    if ('failure' in entry) throw entry.failure
    if (retrieve === undefined) {
      if (isWanted(entry)) await act(await placeManifest(session, entry), entry)
      return
    }
    const placed = await retrieve(await placeAnywhere(session, entry))
    if (!isWanted(placed)) return
    requireNamespace(placed.object, placed.resource, session)
    await act(placed, entry)
  }
  const failures = new ManifestFailures()
  let failed: ManifestList | undefined
  for (const entry of entries) {
    if (failed !== undefined && entry.list !== failed) break
    try {
      await visit(entry)
    } catch (error) {
      if (entry.list === undefined || isUnreachableServer(error)) throw error
      failures.add(error, entry)
      failed = entry.list
    }
  }
  const [failure] = failures.errors
  if (failure === undefined) return
  throw failure instanceof ListError && failure.errors.length === 1 ? failure.errors[0] : failure
}

/** How what is selected is shown, by which what is wrong with files is told in one way or another. */
export interface SelectionStyle {
  readonly asTables?: boolean
  readonly ignoresMissing?: boolean
}

export interface Selected {
  readonly selections: readonly Selection[]
  /** Why other objects of files go nowhere. */
  readonly refusals: readonly unknown[]
  /** What else is wrong with files. */
  readonly failures: readonly unknown[]
}

/** What the arguments or the files of a command that shows objects mean. */
export async function selectionsOf(
  session: Session,
  args: readonly string[],
  read: ReadManifests,
  verb: string,
  flags: SelectorFlags & ManifestFlags,
  { asTables = false, ignoresMissing = false }: SelectionStyle = {},
): Promise<Selected> {
  if (!hasFiles(flags)) {
    return { selections: selectObjects(args, verb, await session.catalog(), flags), refusals: [], failures: [] }
  }
  // kubectl's `get` reads objects before it refuses their namespaces and judges their labels. Tables, as which it reads them, have none.
  const retrieve = async (each: Placed, looksFirst: boolean): Promise<Placed> => {
    const isElsewhere = 'refusal' in withRefusal(each, session)
    const { name = '', namespace = '' } = each.object.metadata
    if (name === '' || (!isElsewhere && flags.selector === undefined && !looksFirst)) return each
    const { apiVersion, kind, metadata } = await getNamed(session.client, each.resource, { name, namespace }, undefined)
    const { labels: _, ...unlabelled } = metadata
    return { ...each, object: { apiVersion, kind, metadata: asTables ? unlabelled : metadata } }
  }
  const placeAll = (looksFirst: boolean) =>
    placeReadable(session, read, flags, verb === 'get' ? (each) => retrieve(each, looksFirst) : undefined)
  // What it cannot read is told in one order with what is wrong otherwise, and is one error with what else is wrong in its list.
  const looksFirst = !ignoresMissing && read.entries.some(({ list }) => list !== undefined)
  const attempt = await placeAll(looksFirst)
  const isTold = verb === 'get' && !ignoresMissing && !looksFirst && attempt.failures.length > 0
  const { placed, failures } = isTold ? await placeAll(true) : attempt
  return {
    selections: wellPlaced(placed).map(selectionOf),
    refusals: refusalsOf(placed),
    failures: ignoresMissing ? exceptMissing(failures) : failures,
  }
}

/** Errors without those that tell what is not there, in lists, too. */
function exceptMissing(errors: readonly unknown[]): readonly unknown[] {
  return errors.flatMap((error) => {
    if (!(error instanceof ListError)) return reasonOf(error) === 'NotFound' ? [] : [error]
    const others = exceptMissing(error.errors)
    return others.length === 0 ? [] : [new ListError(others)]
  })
}

/** What is wrong with files as kubectl tells it beside tables and descriptions: without `error:` before it, and of the items of a list on one line if `listsAreOne`. */
export function summariesOf(failures: readonly unknown[], listsAreOne: boolean): readonly unknown[] {
  const summarized = (error: unknown) => (error instanceof CliError ? new SummaryError(error.message) : error)
  return failures.flatMap((error) => {
    if (!(error instanceof ListError)) return summarized(error)
    return listsAreOne ? new SummaryError(describePart(error)) : error.errors.map(summarized)
  })
}

/** Those that go somewhere. */
export const wellPlaced = (placed: readonly (Placed | Misplaced)[]): readonly Placed[] =>
  placed.flatMap((each) => ('refusal' in each ? [] : [each]))

/** Why the others do not. */
export const refusalsOf = (placed: readonly (Placed | Misplaced)[]): readonly unknown[] =>
  placed.flatMap((each) => ('refusal' in each ? [each.refusal] : []))

/** The selection that an object's own name is. */
export function selectionOf({ resource, object }: Placed): Selection {
  const { name = '', namespace } = object.metadata
  return {
    resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === '' ? { unnamed: object } : {}),
  }
}

/**
 * Does something where there is something to do it with, and rejects in the end with what failed and, after that, why other objects of
 * files could not be read or placed: as one error beside others where they are one.
 */
export async function withFailures(
  failures: readonly unknown[],
  isNothingLeft: boolean,
  act: () => Promise<void>,
  areOneError = false,
): Promise<void> {
  if (failures.length === 0) return act()
  const errors: unknown[] = []
  if (!isNothingLeft) {
    await act().catch((error: unknown) => {
      errors.push(...(error instanceof AggregateError ? error.errors : [error]))
    })
  }
  throw new AggregateError([...errors, ...(areOneError ? asOneBeside(errors, failures) : failures)])
}
