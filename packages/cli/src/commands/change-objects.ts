import { apiVersionOf, builtinResources, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError, ListError, SummaryError } from '../cli-error.ts'
import { checkConnection } from '../connection.ts'
import { describePart, isRefusal } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, loadReadable } from '../manifests/load-manifests.ts'
import { requireNamespace } from '../manifests/place-object.ts'
import {
  type DryRun,
  lazyPrinter,
  type Outcome,
  type OutcomeFlags,
  type OutcomePrinter,
} from '../output/outcome-printer.ts'
import type { LateFlags } from '../refused-value.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import type { RecordFlags } from './change-cause.ts'
import type { refusalOfFinder } from './connection-refusals.ts'
import { throwAll } from './manifest-command.ts'
import {
  findTargets,
  forEachTarget,
  keyOf,
  type RefusedTarget,
  requireAll,
  requireTargets,
  type Target,
  type TargetFlags,
  type Targets,
  tellNothingFound,
} from './targets.ts'

/** Flags of every command that changes objects which are there. */
export interface ChangeFlags extends ConnectionFlags, TargetFlags, OutcomeFlags, RecordFlags, LateFlags {
  /** Who changes, for field ownership; the command's own name unless given. */
  readonly fieldManager?: string
  /** Changes what files say, and asks no server; `dryRun` is `client` then. */
  readonly local?: boolean
  /** A wrong `-o` is told when there is something to print, as some of kubectl's commands do. */
  readonly looksAtOutputLate?: boolean
  /** Nothing is changed where an object is not there, or cannot be read. */
  readonly needsAll?: boolean
  /** Where nothing is named that is told before a connection is made; but not before what is wrong with the namespace of the context. */
  readonly namesFirst?: boolean
  /** Nothing more is done where one is refused. */
  readonly stopsAtFirst?: boolean
  /** What `--dry-run` says, where `local` says that nothing is written. */
  readonly givenDryRun?: DryRun
  /** Tells what is wrong with the connection of the arguments or files for which it is needed, as some of kubectl's commands do. */
  readonly refusalOfConnection?: typeof refusalOfFinder
  /** Says so where there is no object. */
  readonly tellsNothingFound?: boolean
  /** What is not there is told before what is tried. */
  readonly tellsMissingFirst?: boolean
}

/** What a command does with an object; undefined where it has printed all there is to say. */
export type Change = (session: Session, target: Target) => Promise<Outcome | undefined>

/**
 * Changes each object that the arguments, files and selectors mean, one after another, and says what came of it. What
 * fails is reported and the others still done; rejects with all failures in the end. Where `check` throws nothing is done.
 */
export async function changeObjects(
  host: Host,
  args: readonly string[],
  verb: string,
  flags: ChangeFlags,
  change: Change,
  check: (targets: readonly Target[]) => void | Promise<void> = () => {},
): Promise<void> {
  if (flags.local === true) return changeLocally(host, args, flags, change, check)
  const printer = lazyPrinter(host, flags)
  if (flags.looksAtOutputLate !== true) await printer()
  if (flags.namesFirst === true && args.length === 0 && !hasFiles(flags)) {
    if (flags.namespace === undefined) await checkConnection(host, flags)
    requireTargets(args, flags)
  }
  await withSession(
    host,
    flags,
    async (session) => {
      const targets = await findTargets(host, session, args, verb, flags)
      if (flags.tellsNothingFound === true && targets.found.length + targets.unread.length === 0) {
        tellNothingFound(host, session)
      }
      if (flags.needsAll === true) requireAll(targets)
      const { found, unread } = flags.tellsMissingFirst === true ? withMissingFirst(targets) : targets
      await check(found.flatMap((each) => ('refusal' in each ? [] : [each])))
      if (flags.stopsAtFirst === true) return changeUntilRefused(session, { found, unread }, printer, change)
      await forEachTarget({ found, unread }, (target) => changeOne(session, target, printer, change))
    },
    flags.refusalOfConnection?.(args, flags),
  )
}

/** Why a server cannot try what is done without one; empty where it need not. Each of kubectl's commands tells that in its time. */
export const localAndServer = ({ local, givenDryRun }: ChangeFlags): readonly CliError[] =>
  local === true && givenDryRun === 'server'
    ? [new CliError('cannot specify --local and --dry-run=server - did you mean --dry-run=client?')]
    : []

/** Changes what files say, as it would be changed on a server. */
async function changeLocally(
  host: Host,
  args: readonly string[],
  flags: ChangeFlags,
  change: Change,
  check: (targets: readonly Target[]) => void | Promise<void>,
): Promise<void> {
  // Without a server, too, kubectl looks up which namespace the context has.
  if (flags.namespace === undefined && flags.makesClientFirst !== true) await checkConnection(host, flags)
  // A dry run is told where one was asked for.
  const printer = lazyPrinter(host, { ...flags, dryRun: flags.givenDryRun ?? 'none' })
  if (flags.looksAtOutputLate !== true) await printer()
  if (args.length > 0) throw new CliError(localNeedsFiles)
  requireTargets(args, flags)
  await printer()
  const decoding = flags.typed === true ? { decoding: 'typed' as const } : {}
  const { manifests, failures } = await loadReadable(host, flags, decoding)
  const session = noSession(flags, '--local')
  const { completeAsStruct, writtenAsStruct } = await import('../manifests/as-struct.ts')
  const held = (object: KubernetesObject) => (flags.typed === true ? completeAsStruct(object) : object)
  const targets = { found: manifests.map(({ object }) => localTarget(held(object), session)), unread: failures }
  if (flags.needsAll === true) requireAll(targets)
  await check(targets.found.flatMap((each) => ('refusal' in each ? [] : [each])))
  await forEachTarget(targets, (target) =>
    changeOne(session, target, printer, async (...given) => {
      const outcome = await change(...given)
      if (outcome === undefined || flags.typed !== true) return outcome
      return { ...outcome, object: writtenAsStruct(outcome.object) }
    }),
  )
}

function localTarget(object: KubernetesObject, session: Session): Target | RefusedTarget {
  const resource = localResource(object)
  try {
    requireNamespace(object, resource, session)
    return { resource, key: keyOf(object), object }
  } catch (refusal) {
    return { refusal }
  }
}

/** kubectl's words where `--local` is to change objects of the server. */
export const localNeedsFiles = `you must specify resources by --filename when --local is set.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'`

/** The kind of an object without a server that knows it: names are guessed, for messages. */
export function localResource({ apiVersion, kind }: KubernetesObject): DiscoveredResource {
  const builtin = builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const plural = builtin?.plural ?? `${kind.toLowerCase()}s`
  const names = { plural, singular: kind.toLowerCase(), shortNames: [], categories: [] }
  const namespaced = builtin?.namespaced ?? true
  return { group, version, kind, ...names, namespaced, verbs: [], subresources: [], isPreferredVersion: true }
}

/** What stands in for a server that is not to be asked, because of `flag`. */
export function noSession({ namespace }: ConnectionFlags, flag: string): Session {
  const refuse = (): never => {
    throw new CliError(`${flag} asks no server, and this cannot be done without one`)
  }
  return {
    get client() {
      return refuse()
    },
    catalog: refuse,
    server: '',
    namespace: namespace ?? '',
    givenNamespace: namespace,
  }
}

/** Changes objects that may be changed until one is refused. Where none is, it is told why others may not be changed, or could not be read. */
async function changeUntilRefused(
  session: Session,
  { found, unread }: Targets,
  printer: () => Promise<OutcomePrinter>,
  change: Change,
): Promise<void> {
  for (const each of found) if (!('refusal' in each)) await changeOne(session, each, printer, change)
  throwAll(
    found.flatMap((each) => ('refusal' in each ? [each.refusal] : [])),
    unread,
  )
}

/** Changes an object, and says what came of it. */
async function changeOne(
  session: Session,
  target: Target,
  printer: () => Promise<OutcomePrinter>,
  change: Change,
): Promise<void> {
  const outcome = await change(session, target)
  if (outcome !== undefined) await (await printer()).print(outcome.resource ?? target.resource, outcome)
}

/** What is not there before what is, as one error. */
function withMissingFirst({ found, unread }: Targets): Targets {
  const there = found.filter((each) => !('refusal' in each))
  const missing = [...found.flatMap((each) => ('refusal' in each ? [each.refusal] : [])), ...unread]
  if (missing.length === 0) return { found: there, unread: [] }
  const [first, ...others] = missing
  // Beside others, what a server has not refused is told in its plain words.
  const beside = isRefusal(first) ? first : new AggregateError(missing)
  const only = there.length === 0 ? asSummary(first) : beside
  const refusal = others.length === 0 ? only : new AggregateError(missing)
  return { found: [{ refusal }, ...there], unread: [] }
}

function asSummary(error: unknown): unknown {
  if (error instanceof ListError) return new SummaryError(describePart(error))
  return error instanceof CliError ? new SummaryError(error.message) : error
}
