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

/** Pods that are evicted at once; their budgets decide how many go. */
const evictionsMax = 50

/** `coracle drain NODE` */
export async function drain(host: Host, names: readonly string[], flags: DrainFlags): Promise<void> {
  const args = nodeArguments(names, 'drain', flags)
  const timeoutMs = parseDuration(flags.timeout)
  const deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : host.environment.clock.now() + timeoutMs
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
        await drainOne(host, session, target, flags, deadline)
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

/** Several errors in one line, as Go prints a list of them. */
function plainMessage(error: unknown): string {
  const texts = (error instanceof AggregateError ? error.errors : [error]).map((each: unknown) =>
    describeError(each).replace(/^error: /, ''),
  )
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}

async function drainOne(
  host: Host,
  session: Session,
  target: Target,
  flags: DrainFlags,
  deadline: number,
): Promise<void> {
  const plan = await planFor(host, session, target, flags)
  if (plan.refusals.length > 0) throw new AggregateError(plan.refusals.map((text) => new CliError(text)))
  if (plan.warnings.length > 0) host.stderr.write(`Warning: ${plan.warnings.join('; ')}\n`)
  const waiting = [...plan.evict]
  const workers = Array.from({ length: Math.min(evictionsMax, waiting.length) }, async () => {
    for (let pod = waiting.shift(); pod !== undefined; pod = waiting.shift()) {
      await removePod(host, session, pod, flags, deadline)
    }
  })
  const failures = (await Promise.allSettled(workers)).flatMap((each) =>
    each.status === 'rejected' ? [each.reason as unknown] : [],
  )
  if (failures.length === 0) return
  const { evict } = await planFor(host, session, target, flags)
  if (evict.length > 0) {
    const left = evict.map(({ metadata }) => `pod/${metadata.name}\n`).join('')
    host.stderr.write(
      `There are pending pods in node ${JSON.stringify(target.key.name)} when an error occurred: ${plainMessage(failures[0])}\n${left}`,
    )
  }
  throw failures[0]
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
  // kubectl tells a deletion when it is done, and a dry run of one as that of an eviction.
  if (flags.disableEviction !== true || flags.dryRun === 'client')
    host.stdout.write(`evicting pod ${namespace}/${name}${dryRunText[flags.dryRun]}\n`)
  if (flags.dryRun === 'client') return
  const isAsked = await askToGo(host, session, pod, flags, deadline)
  if (!isAsked || flags.dryRun === 'server') return
  const { clock } = host.environment
  const giveUpAtMs = Math.min(deadline, (await overdueTime(session, pod, flags)) ?? Infinity)
  const timeoutMs = giveUpAtMs === Number.POSITIVE_INFINITY ? 0 : Math.max(1, giveUpAtMs - clock.now())
  const resource = (await session.catalog()).find('pods')
  try {
    await waitUntilGone(host, session, [{ resource, key: { name, namespace }, uid }], timeoutMs)
  } catch (error) {
    if (!(error instanceof CliError) || giveUpAtMs >= deadline) throw error
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

/** Resolves to false where the pod is gone already. A budget that protects it now may let it go later. */
async function askToGo(
  host: Host,
  { client }: Session,
  pod: Pod,
  flags: DrainFlags,
  deadline: number,
): Promise<boolean> {
  const { clock } = host.environment
  const key = keyOf(pod)
  const options: DeleteOptions = {
    ...(flags.gracePeriod < 0 ? {} : { gracePeriodSeconds: flags.gracePeriod }),
    ...(flags.dryRun === 'server' ? { dryRun: true } : {}),
  }
  for (;;) {
    try {
      if (flags.disableEviction === true) await client.delete(pods, key, options)
      else
        await client.createSubresource(pods, key, 'eviction', eviction(pod, options), {
          dryRun: options.dryRun === true,
        })
      return true
    } catch (error) {
      if (hasReason(error, 'NotFound')) return flags.disableEviction === true
      if (flags.disableEviction === true) throw error
      const where = `pods/${JSON.stringify(key.name)} -n ${JSON.stringify(key.namespace)}`
      if (!hasReason(error, 'TooManyRequests')) {
        throw new CliError(`error when evicting ${where}: ${messageOf(error)}`)
      }
      if (clock.now() + retryAfterMs > deadline) {
        throw new CliError(`error when evicting ${where}: global timeout reached: ${flags.timeout}`)
      }
      host.stderr.write(`error when evicting ${where} (will retry after 5s): ${messageOf(error)}\n`)
      await pause(host, retryAfterMs)
    }
  }
}

function eviction({ metadata }: Pod, { gracePeriodSeconds }: DeleteOptions): KubernetesObject {
  const { name = '', namespace = '' } = metadata
  const deleteOptions = gracePeriodSeconds === undefined ? {} : { deleteOptions: { gracePeriodSeconds } }
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...deleteOptions }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
