import { hasReason, type KubernetesObject, type Status } from '@coracle/api'
import type { DeleteOptions, DiscoveredResource, ObjectKey } from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import { checkConnection } from '../connection.ts'
import { whileDoing } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import { type DryRun, dryRunText } from '../output/outcome-printer.ts'
import type { LateFlags } from '../refused-value.ts'
import { listAll } from '../resources/fetch.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { listOptions, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { type Doomed, waitUntilGone } from './await-deletion.ts'
import { propagationPolicy } from './cascade.ts'
import { confirm } from './confirm.ts'
import { refusalOfSelection } from './connection-refusals.ts'
import { type Misplaced, type Placed, placeReadable, withFailures } from './manifest-command.ts'
import { rawRequest } from './raw-request.ts'
import { keyOf, requireTargets } from './targets.ts'

export interface DeleteFlags extends ConnectionFlags, SelectorFlags, ManifestFlags, LateFlags {
  readonly all?: boolean
  readonly cascade: string
  /** In seconds; below zero: as long as the object says. */
  readonly gracePeriod: number
  readonly now?: boolean
  readonly force?: boolean
  readonly wait: boolean
  readonly timeout: string
  /** Absent: where objects are selected, and not named. */
  readonly ignoreNotFound?: boolean
  /** Asks before anything is deleted. */
  readonly interactive?: boolean
  /** A path of the server to delete as it is. */
  readonly raw?: string
  readonly dryRun: DryRun
  readonly output?: string
}

interface Target {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
  /** The file that names it, for refusals to say so. */
  readonly source?: string
}

/** `coracle delete TYPE NAME`, `-f FILE`, `-l SELECTOR`, `--all` */
export async function deleteObjects(host: Host, args: readonly string[], flags: DeleteFlags): Promise<void> {
  propagationPolicy(flags.cascade)
  const { dryRun: refusal } = flags.lateRefusals ?? {}
  if (refusal !== undefined) await refuseDryRun(host, flags, refusal)
  checkFlags(args, flags)
  if (flags.raw !== undefined) {
    checkManner(flags)
    return rawRequest(host, 'DELETE', flags.raw, flags)
  }
  const timeoutMs = parseDuration(flags.timeout)
  const read = await loadReadable(host, flags, { args })
  await withSession(
    host,
    flags,
    async (session) => {
      const isOfFiles = hasFiles(flags)
      const named = isOfFiles ? [] : await lookupsOf(session, args, flags)
      checkManner(flags)
      const { placed, failures } = await placeReadable(session, read, flags)
      await withFailures(
        failures,
        isOfFiles && placed.length === 0,
        async () => {
          const lookups = isOfFiles ? [async () => fileTargets(placed)] : named
          if (isImmediate(flags)) host.stderr.write(immediateWarning)
          const chosen = flags.interactive === true ? await confirmed(host, lookups) : lookups
          if (chosen === undefined) {
            host.stdout.write('deletion is cancelled\n')
            return
          }
          const { doomed, errors, found } = await deleteAll(host, session, chosen, flags)
          if (errors.length > 0) throw new AggregateError(errors)
          if (found === 0) host.stdout.write('No resources found\n')
          else if (flags.wait && flags.dryRun === 'none') await waitUntilGone(host, session, doomed, timeoutMs)
        },
        true,
      )
    },
    hasFiles(flags) ? undefined : refusalOfSelection(args, flags),
  )
}

/** Looks up, when its turn comes, what one argument or all files mean. */
type Lookup = () => Promise<readonly (Target | Misplaced)[]>

/** What is looked up, once it is agreed to; undefined where it is not. */
async function confirmed(host: Host, lookups: readonly Lookup[]): Promise<readonly Lookup[] | undefined> {
  const targets: Target[] = []
  const errors: unknown[] = []
  for (const lookUp of lookups) {
    const found = await lookUp().catch((error: unknown) => {
      errors.push(error)
      return []
    })
    for (const each of found) {
      if ('refusal' in each) errors.push(each.refusal)
      else targets.push(each)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors)
  return targets.length === 0 || (await isConfirmed(host, targets)) ? [async () => targets] : undefined
}

function isConfirmed(host: Host, targets: readonly Target[]): Promise<boolean> {
  host.stdout.write(`You are about to delete the following ${targets.length} resource(s):\n`)
  for (const { resource, key } of targets) host.stdout.write(`${objectText(resource, key.name)}\n`)
  return confirm(host, 'Do you want to continue?')
}

/** Throws why `--dry-run` is refused, or what kubectl tells before that. */
async function refuseDryRun(host: Host, flags: DeleteFlags, refusal: CliError): Promise<never> {
  if (flags.namespace === undefined) await checkConnection(host, flags)
  checkTime(flags)
  throw refusal
}

function checkTime({ now, gracePeriod }: DeleteFlags): void {
  if (now === true && gracePeriod !== -1) throw new CliError('--now and --grace-period cannot be specified together')
}

/** Throws a CliError on flags that contradict each other or the arguments. */
function checkFlags(args: readonly string[], flags: DeleteFlags): void {
  const { all, raw } = flags
  if (raw === undefined) checkTargets(args, flags)
  else if (all === true && isSelective(flags)) throw new CliError('cannot set --all and --selector at the same time')
  checkTime(flags)
}

/** The same of how objects are deleted, and told of: kubectl looks at that once it knows which are meant. */
function checkManner({ output, force, gracePeriod, raw, interactive }: DeleteFlags): void {
  if (output !== undefined && output !== 'name') {
    throw new CliError(`unexpected -o output mode: ${output}. We only support '-o name'`)
  }
  if (force === true && gracePeriod > 0) {
    throw new CliError('--force and --grace-period greater than 0 cannot be specified together')
  }
  if (raw !== undefined && interactive === true) {
    throw new CliError('--interactive can not be used with --raw')
  }
}

/** Throws a CliError where it is not said what to delete, or in two ways. */
function checkTargets(args: readonly string[], flags: DeleteFlags): void {
  requireTargets(args, { ...flags, allSelects: true })
  if (flags.all === true && isSelective(flags))
    throw new CliError("setting 'all' parameter but found a non empty selector. ")
}

const isSelective = ({ selector, fieldSelector }: DeleteFlags): boolean =>
  selector !== undefined || fieldSelector !== undefined

/** The objects of files. */
function fileTargets(placed: readonly (Placed | Misplaced)[]): readonly (Target | Misplaced)[] {
  return placed.map((each) => ('refusal' in each ? each : { ...targetOf(each), source: each.source }))
}

function targetOf({ resource, object }: Pick<Placed, 'resource' | 'object'>): Target {
  return { resource, key: keyOf(object) }
}

async function lookupsOf(session: Session, args: readonly string[], flags: DeleteFlags): Promise<readonly Lookup[]> {
  const selections = selectObjects(args, 'delete', await session.catalog(), flags)
  if (selections.some(({ name }) => name === undefined) && !isSelective(flags) && flags.all !== true) {
    throw new CliError('resource(s) were provided, but no name was specified')
  }
  return selections.map(({ resource, name }) => async () => {
    if (name !== undefined) {
      return [{ resource, key: { name, ...(resource.namespaced ? { namespace: session.namespace } : {}) } }]
    }
    const objects = await listAll(session.client, resource, listOptions(session, { resource }, flags))
    return objects.map((object) => targetOf({ resource, object }))
  })
}

/**
 * Deletes what is looked up, one lookup after the other: what comes later is listed when the earlier is deleted, and what
 * cannot be listed keeps nothing from being deleted.
 */
async function deleteAll(host: Host, session: Session, lookups: readonly Lookup[], flags: DeleteFlags) {
  const { client } = session
  const doomed: Doomed[] = []
  const errors: unknown[] = []
  let found = 0
  // What was selected and is gone meanwhile is what was wanted.
  const ignoresMissing = flags.ignoreNotFound ?? (flags.all === true || isSelective(flags))
  const failed = (error: unknown, source?: string) => {
    if (ignoresMissing && hasReason(error, 'NotFound')) return
    errors.push(source === undefined ? error : whileDoing(`error when deleting "${source}"`, error))
  }
  const warn = warningOfClusterScope(host, session, flags)
  for (const lookUp of lookups) {
    const targets = await lookUp().catch((error: unknown) => {
      failed(error)
      return []
    })
    found += targets.length
    for (const target of targets) {
      if ('refusal' in target) {
        failed(target.refusal)
        continue
      }
      warn(target)
      try {
        if (flags.dryRun !== 'client') {
          const result = await client.delete(target.resource, target.key, deleteOptions(flags))
          doomed.push({ ...target, uid: uidOf(result) })
        }
        host.stdout.write(deletedLine(target, flags))
      } catch (error) {
        failed(error, target.source)
      }
    }
  }
  return { doomed, errors, found }
}

/** Who names a namespace may not know that what they delete is in none: they are told, once. */
function warningOfClusterScope(
  { stderr }: Host,
  { givenNamespace }: Session,
  { allNamespaces }: DeleteFlags,
): (target: Target) => void {
  let isDue = givenNamespace !== undefined && allNamespaces !== true
  return ({ resource }) => {
    if (!isDue || resource.namespaced) return
    isDue = false
    stderr.write('Warning: deleting cluster-scoped resources, not scoped to the provided namespace\n')
  }
}

function deleteOptions(flags: DeleteFlags): DeleteOptions {
  const gracePeriodSeconds = gracePeriodOf(flags)
  return {
    propagationPolicy: propagationPolicy(flags.cascade),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(flags.dryRun === 'server' ? { dryRun: true } : {}),
  }
}

/** kubectl's rule: 0 takes an object away while it may still run, and so counts only when it is asked for twice. */
function gracePeriodOf({ gracePeriod, force, now }: DeleteFlags): number | undefined {
  if (now === true) return 1
  const asked = gracePeriod < 0 ? undefined : gracePeriod
  if (force === true) return asked ?? 0
  return asked === 0 ? 1 : asked
}

const isImmediate = (flags: DeleteFlags): boolean => gracePeriodOf(flags) === 0

const immediateWarning =
  'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n'

function deletedLine({ resource, key }: Target, flags: DeleteFlags): string {
  if (flags.output === 'name') return `${objectText(resource, key.name)}\n`
  const verb = isImmediate(flags) ? 'force deleted' : 'deleted'
  const place = key.namespace === undefined ? '' : ` from ${key.namespace} namespace`
  return `${kindText(resource)} "${key.name}" ${verb}${place}${dryRunText[flags.dryRun]}\n`
}

function uidOf(result: KubernetesObject | Status): string | undefined {
  return result.kind === 'Status' ? (result as Status).details?.uid : (result as KubernetesObject).metadata.uid
}
