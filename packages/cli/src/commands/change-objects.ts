import { apiVersionOf, builtinResources, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { isRefusal } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { loadManifests } from '../manifests/load-manifests.ts'
import { type Outcome, type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import type { RecordFlags } from './change-cause.ts'
import { findTargets, keyOf, requireTargets, type Target, type TargetFlags } from './targets.ts'

/** Flags of every command that changes objects which are there. */
export interface ChangeFlags extends ConnectionFlags, TargetFlags, OutcomeFlags, RecordFlags {
  /** Who changes, for field ownership; the command's own name unless given. */
  readonly fieldManager?: string
  /** Changes what files say, and asks no server; `dryRun` is `client` then. */
  readonly local?: boolean
  /** A wrong `-o` is told when there is something to print, as some of kubectl's commands do. */
  readonly looksAtOutputLate?: boolean
}

/** A printer that is made when it is first needed, which may tell that `-o` names no format. */
function lazyPrinter(host: Host, flags: OutcomeFlags): () => Promise<OutcomePrinter> {
  let printer: Promise<OutcomePrinter> | undefined
  return () => {
    printer ??= OutcomePrinter.for(host, flags)
    return printer
  }
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
  check: (targets: readonly Target[]) => void = () => {},
): Promise<void> {
  if (flags.local === true) return changeLocally(host, args, flags, change)
  const printer = lazyPrinter(host, flags)
  if (flags.looksAtOutputLate !== true) await printer()
  await withSession(host, flags, async (session) => {
    const { found, errors } = await findTargets(host, session, args, verb, flags)
    check(found)
    // What is no object of the server is told after what was tried.
    const [missing, unread] = [errors.filter(isRefusal), errors.filter((error) => !isRefusal(error))]
    const failures = [...missing, ...(await changeEach(session, found, printer, change)), ...unread]
    if (failures.length > 0) throw new AggregateError(failures)
  })
}

/** Changes what files say, as it would be changed on a server. */
async function changeLocally(host: Host, args: readonly string[], flags: ChangeFlags, change: Change): Promise<void> {
  if (args.length > 0) throw new CliError(localNeedsFiles)
  requireTargets(args, flags.filename.length)
  // Nothing was tried: what is said is what there is.
  const printer = lazyPrinter(host, { ...flags, dryRun: 'none' })
  await printer()
  const manifests = await loadManifests(host, flags)
  const targets = manifests.map(({ object }) => ({ resource: localResource(object), key: keyOf(object), object }))
  const failures = await changeEach(noSession(flags, '--local'), targets, printer, change)
  if (failures.length > 0) throw new AggregateError(failures)
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

/** Changes each of these objects, and returns what failed. */
export async function changeEach(
  session: Session,
  targets: readonly Target[],
  printer: () => Promise<OutcomePrinter>,
  change: Change,
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  for (const target of targets) {
    try {
      const outcome = await change(session, target)
      if (outcome !== undefined) await (await printer()).print(outcome.resource ?? target.resource, outcome)
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}
