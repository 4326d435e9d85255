import { daemonSets, hasReason, type KubernetesObject, type Pod, parseLabelSelector, pods } from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError, SummaryError } from '../../cli-error.ts'
import { describeError } from '../../describe-error.ts'
import type { Host } from '../../host.ts'
import { dryRunText, OutcomePrinter } from '../../output/outcome-printer.ts'
import { pause } from '../../pause.ts'
import { listAll } from '../../resources/fetch.ts'
import { type Session, withSession } from '../../session.ts'
import { waitUntilGone } from '../await-deletion.ts'
import { findTargets, keyOf, requireAll, type Target } from '../targets.ts'
import { type NodeFlags, nodeArguments, setOne, withoutEmptySelector } from './cordon.ts'
import { type DrainPlan, overdueAtMs, planDrain } from './drain-plan.ts'

export interface DrainFlags extends NodeFlags {
  readonly force?: boolean
  readonly ignoreDaemonsets?: boolean
  readonly deleteEmptydirData?: boolean
  /** Seconds that pods have to end; below 0: as each pod says. */
  readonly gracePeriod: number
  readonly timeout: string
  readonly podSelector?: string
  /** Deletes pods, whatever their budgets say. */
  readonly disableEviction?: boolean
  /** Seconds that a pod may be on its way out before it is not waited for; 0: each is waited for. */
  readonly skipWaitForDeleteTimeout: number
  readonly chunkSize: number
}

/** How long a pod that its budget protects is left alone before it is asked for again. */
const retryAfterMs = 5000

/** `coracle drain NODE` */
export async function drain(host: Host, names: readonly string[], flags: DrainFlags): Promise<void> {
  const args = nodeArguments(names, 'drain', flags)
  const timeoutMs = parseDuration(flags.timeout)
  const printer = await OutcomePrinter.for(host, flags)
  await withSession(host, flags, async (session) => {
    checkPodSelector(flags)
    const found = requireAll(
      await findTargets(host, session, args, 'drain', {
        ...withoutEmptySelector(flags),
        filename: [],
        stopsAtMissing: true,
      }),
    )
    for (const target of found) await printer.print(target.resource, await setOne(session, target, true, flags.dryRun))
    const pending: string[] = []
    const failures: unknown[] = []
    for (const target of found) {
      try {
        await drainOne(host, session, target, flags, timeoutMs)
        await printer.print(target.resource, { verb: 'drained', object: target.object })
      } catch (error) {
        const { name } = target.key
        failures.push(error)
        pending.push(name)
        host.stderr.write(
          `error: unable to drain node ${JSON.stringify(name)} due to error: ${plainMessage(error)}, continuing command...\n`,
        )
      }
    }
    if (pending.length === 0) return
    host.stderr.write(`There are pending nodes to be drained:\n${pending.map((name) => ` ${name}\n`).join('')}`)
    const causes = failures.flatMap((error) => (error instanceof AggregateError ? error.errors : [error]))
    throw new SummaryError(causes.map(messageOf).join('\n'))
  })
}

function checkPodSelector({ podSelector }: DrainFlags): void {
  if (podSelector === undefined) return
  try {
    parseLabelSelector(podSelector)
  } catch {
    throw new CliError('--pod-selector=<pod_selector> must be a valid label selector')
  }
}

/** Several errors in one line, each once, as Go prints a list of them. */
function plainMessage(error: unknown): string {
  const all = (error instanceof AggregateError ? error.errors : [error]).map((each: unknown) =>
    describeError(each).replace(/^error: /, ''),
  )
  const texts = [...new Set(all)]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}

/**
 * Takes all pods from a node that are not to stay. Each is asked to go at once: one that its budget protects holds up no other. Rejects
 * with all that has failed.
 */
async function drainOne(
  host: Host,
  session: Session,
  target: Target,
  flags: DrainFlags,
  timeoutMs: number,
): Promise<void> {
  const plan = await planFor(host, session, target, flags)
  if (plan.refusals.length > 0) throw new AggregateError(plan.refusals.map((text) => new CliError(text)))
  if (plan.warnings.length > 0) host.stderr.write(`Warning: ${plan.warnings.join('; ')}\n`)
  const deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : host.environment.clock.now() + timeoutMs
  const failures: unknown[] = []
  const removals = plan.evict.map((pod) =>
    removePod(host, session, pod, flags, deadline).catch((error: unknown) => void failures.push(error)),
  )
  await Promise.all(removals)
  if (failures.length === 0) return
  const failure = failures.length === 1 ? failures[0] : new AggregateError(failures)
  const { evict } = await planFor(host, session, target, flags)
  if (evict.length > 0) {
    const left = evict.map(({ metadata }) => `pod/${metadata.name}\n`).join('')
    host.stderr.write(
      `There are pending pods in node ${JSON.stringify(target.key.name)} when an error occurred: ${plainMessage(failure)}\n${left}`,
    )
  }
  throw failure
}

async function planFor(
  { environment }: Host,
  { client }: Session,
  { key }: Target,
  flags: DrainFlags,
): Promise<DrainPlan> {
  const { podSelector, chunkSize, skipWaitForDeleteTimeout } = flags
  const selection = {
    fieldSelector: `spec.nodeName=${key.name}`,
    ...(podSelector === undefined ? {} : { labelSelector: podSelector }),
  }
  const onNode = (await listAll(client, pods, selection, chunkSize)) as readonly Pod[]
  const known = new Set<string>()
  for (const pod of onNode) {
    const owner = pod.metadata.ownerReferences?.find(
      ({ controller, kind }) => controller === true && kind === 'DaemonSet',
    )
    const { namespace = '' } = pod.metadata
    if (owner === undefined || known.has(`${namespace}/${owner.name}`)) continue
    try {
      await client.get(daemonSets, { namespace, name: owner.name })
      known.add(`${namespace}/${owner.name}`)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }
  return planDrain(onNode, {
    force: flags.force === true,
    ignoreDaemonSets: flags.ignoreDaemonsets === true,
    deleteEmptyDirData: flags.deleteEmptydirData === true,
    isOverdue: (pod) => environment.clock.now() >= (overdueAtMs(pod, skipWaitForDeleteTimeout) ?? Infinity),
    hasDaemonSet: ({ metadata }) =>
      metadata.ownerReferences?.some(({ name }) => known.has(`${metadata.namespace}/${name}`)) === true,
  })
}

/** Takes a pod from its node and waits until it is gone. Rejects where that is refused, or has not come by the deadline. */
async function removePod(host: Host, session: Session, pod: Pod, flags: DrainFlags, deadline: number): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata
  if (flags.dryRun === 'client') {
    // As with kubectl, that of a deletion, too.
    tellEviction(host, pod, flags)
    return
  }
  const isAsked =
    flags.disableEviction === true
      ? await deletePod(session, pod, flags)
      : await evictPod(host, session, pod, flags, deadline)
  if (!isAsked || flags.dryRun === 'server') return
  const { clock } = host.environment
  const giveUpAtMs = Math.min(deadline, (await overdueTime(session, pod, flags)) ?? Infinity)
  const timeoutMs = giveUpAtMs === Number.POSITIVE_INFINITY ? 0 : Math.max(1, giveUpAtMs - clock.now())
  const resource = (await session.catalog()).find('pods')
  try {
    await waitUntilGone(host, session, [{ resource, key: { name, namespace }, uid }], timeoutMs)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    if (giveUpAtMs >= deadline) throw new CliError(lateText(pod, flags))
    const seconds = flags.skipWaitForDeleteTimeout
    host.stdout.write(`pod ${JSON.stringify(name)} has DeletionTimestamp older than ${seconds} seconds, skipping\n`)
    return
  }
  host.stdout.write(`pod/${name} ${flags.disableEviction === true ? 'deleted' : 'evicted'}\n`)
}

/** When a pod that was asked to go is waited for no longer; undefined where nothing bounds that, or it is gone. */
async function overdueTime({ client }: Session, pod: Pod, flags: DrainFlags): Promise<number | undefined> {
  if (flags.skipWaitForDeleteTimeout <= 0) return undefined
  try {
    return overdueAtMs(await client.get(pods, keyOf(pod)), flags.skipWaitForDeleteTimeout)
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

const tellEviction = ({ stdout }: Host, { metadata: { namespace, name } }: Pod, { dryRun }: DrainFlags): void =>
  stdout.write(`evicting pod ${namespace}/${name}${dryRunText[dryRun]}\n`)

/** What is said of a pod that has not gone in time. */
function lateText({ metadata: { namespace, name } }: Pod, { disableEviction }: DrainFlags): string {
  const why = 'context deadline exceeded'
  if (disableEviction === true) return why
  return `error when waiting for pod ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)} to terminate: ${why}`
}

function deleteOptionsOf({ gracePeriod, dryRun }: DrainFlags): DeleteOptions {
  return {
    ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
    ...(dryRun === 'server' ? { dryRun: true } : {}),
  }
}

/** Deletes a pod, whatever its budget says. One that is gone already counts as deleted. */
async function deletePod({ client }: Session, pod: Pod, flags: DrainFlags): Promise<boolean> {
  try {
    await client.delete(pods, keyOf(pod), deleteOptionsOf(flags))
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  return true
}

/**
 * Evicts a pod. Resolves to false where it is gone already. A budget that protects it now may let it go later, and in a namespace that is
 * being deleted, where nothing can be evicted, it is going to be deleted.
 */
async function evictPod(
  host: Host,
  { client }: Session,
  pod: Pod,
  flags: DrainFlags,
  deadline: number,
): Promise<boolean> {
  const key = keyOf(pod)
  const [name, namespace] = [JSON.stringify(key.name), JSON.stringify(key.namespace)]
  const where = `pods/${name} -n ${namespace}`
  const options = deleteOptionsOf(flags)
  for (let latest = pod; ; ) {
    tellEviction(host, pod, flags)
    if (host.environment.clock.now() >= deadline) {
      throw new CliError(`error when evicting ${where}: global timeout reached: ${flags.timeout}`)
    }
    try {
      await client.createSubresource(pods, key, 'eviction', eviction(pod, options), { dryRun: options.dryRun === true })
      return true
    } catch (error) {
      if (hasReason(error, 'NotFound')) return false
      const isNamespaceGoing = isOfTerminatingNamespace(error)
      if (isNamespaceGoing && latest.metadata.deletionTimestamp !== undefined) return true
      if (!isNamespaceGoing && !hasReason(error, 'TooManyRequests')) {
        throw new CliError(`error when evicting ${where}: ${messageOf(error)}`)
      }
      const what = isNamespaceGoing ? `pod ${name} from terminating namespace ${namespace}` : where
      host.stderr.write(`error when evicting ${what} (will retry after 5s): ${messageOf(error)}\n`)
      await pause(host, retryAfterMs)
      // Where it cannot be read, the next try tells why.
      if (isNamespaceGoing) latest = await client.get(pods, key).catch(() => latest)
    }
  }
}

/** Whether nothing can be made in a namespace any more, evictions neither. */
const isOfTerminatingNamespace = (error: unknown): boolean =>
  hasReason(error, 'Forbidden') &&
  error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true

function eviction({ metadata }: Pod, { gracePeriodSeconds }: DeleteOptions): KubernetesObject {
  const { name = '', namespace = '' } = metadata
  const deleteOptions = gracePeriodSeconds === undefined ? {} : { deleteOptions: { gracePeriodSeconds } }
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...deleteOptions }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
