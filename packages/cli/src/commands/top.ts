import {
  addQuantity,
  compareText,
  durationText,
  formatQuantity,
  hasReason,
  type KubernetesObject,
  type Node,
  type NodeMetrics,
  nodeMetrics,
  nodes,
  type Pod,
  type PodMetrics,
  parseFieldSelector,
  parseLabelSelector,
  parseTime,
  podMetrics,
  pods,
  quantityMilli,
  quantityValue,
  type Resource,
} from '@coracle/api'
import { CliError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface TopFlags extends ConnectionFlags {
  readonly selector?: string
  readonly fieldSelector?: string
  readonly allNamespaces?: boolean
  readonly containers?: boolean
  /** With a line for all pods together. */
  readonly sum?: boolean
  /** Shares are of all that nodes have, and not of what pods may have. */
  readonly showCapacity?: boolean
  /** With swap memory beside memory. */
  readonly showSwap?: boolean
  /** `cpu` or `memory`. */
  readonly sortBy?: string
  /** False with `--no-headers`. */
  readonly headers: boolean
}

/** Cores and bytes, as quantities. */
type Usage = Readonly<Record<Measure, string>>
type Measure = 'cpu' | 'memory' | 'swap'

/** What stands in a line before the usage, and the usage. */
interface Line {
  readonly cells: readonly string[]
  readonly usage: Usage
}

/** Throws a CliError for selectors that are none: the usage is asked for with selectors that were read here, as by kubectl. */
function checkSelectors({ selector = '', fieldSelector = '' }: TopFlags): void {
  try {
    parseLabelSelector(selector)
    parseFieldSelector(fieldSelector)
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** `coracle top pod [NAME]` */
export async function topPods(host: Host, names: readonly string[], flags: TopFlags): Promise<void> {
  checkFlags('pod', names, flags)
  checkSelectors(flags)
  await withSession(host, flags, async (session) => {
    const { allNamespaces = false, containers = false } = flags
    const namespace = allNamespaces ? undefined : session.namespace
    const found = await read<PodMetrics>(session, podMetrics, namespace, names[0], flags)
    if (found.length === 0) {
      await checkPodsWithoutUsage(host, session, flags)
      host.stderr.write(
        allNamespaces ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`,
      )
      return
    }
    const measured = found.map(({ metadata, containers: each }) => ({
      cells: [...(allNamespaces ? [metadata.namespace ?? ''] : []), metadata.name ?? ''],
      usage: sumOf(each.map(({ usage }) => usage)),
      containers: each,
    }))
    const lines = sorted(measured, flags).flatMap((pod): readonly Line[] => {
      if (!containers) return [pod]
      const each = pod.containers.map(({ name, usage }) => ({ cells: [...pod.cells, name], usage: sumOf([usage]) }))
      return sorted(each, flags)
    })
    const measures = measuresOf(flags)
    const before = [...(allNamespaces ? ['NAMESPACE'] : []), ...(containers ? ['POD', 'NAME'] : ['NAME'])]
    const rows = lines.map(({ cells, usage }) => [...cells, ...measures.map((measure) => usageCell(usage, measure))])
    const width = (flags.headers ? before.length : 1) + measures.length
    const sum = flags.sum === true ? sumRows(sumOf(lines.map(({ usage }) => usage)), width, measures) : []
    print(host, flags, [...before, ...measures.map((measure) => usageHeaders[measure])], [...rows, ...sum])
  })
}

/** The usage of a pod is measured so long after it was created. */
const measuredAfterMs = 2 * 60_000

/** Throws a CliError, in kubectl's words, where there are pods of which there is no usage: those of all namespaces count by the session's. */
async function checkPodsWithoutUsage(host: Host, { client, namespace }: Session, flags: TopFlags): Promise<void> {
  const { items } = await client.list<Pod>(pods, { namespace, ...selectionOf(flags) })
  const nowMs = host.environment.clock.now()
  for (const { metadata } of items) {
    const ageMs = nowMs - parseTime(metadata.creationTimestamp ?? '')
    if (ageMs <= measuredAfterMs) continue
    throw new CliError(`Metrics not available for pod ${namespace}/${metadata.name}, age: ${durationText(ageMs)}`)
  }
  if (items.length > 0) throw new CliError('metrics not available yet')
}

/** `coracle top node [NAME]` */
export async function topNodes(host: Host, names: readonly string[], flags: TopFlags): Promise<void> {
  checkFlags('node', names, flags)
  await withSession(host, flags, async (session) => {
    const [name] = names
    const found = await read<NodeMetrics>(session, nodeMetrics, undefined, name, flags)
    if (found.length === 0) throw new CliError('metrics not available yet')
    const { selector: labelSelector = '' } = flags
    const all =
      name === undefined
        ? (await session.client.list(nodes, labelSelector === '' ? {} : { labelSelector })).items
        : [await session.client.get(nodes, { name })]
    const byName = new Map(all.map((node) => [node.metadata.name, node]))
    const measures = measuresOf(flags)
    const lines = found.map(({ metadata, usage }) => ({ cells: [metadata.name ?? ''], usage: sumOf([usage]) }))
    const rows = sorted(lines, flags).map((line) => {
      const node = byName.get(line.cells[0])
      return [...line.cells, ...measures.flatMap((measure) => shareCells(line.usage, measure, node, flags))]
    })
    const measured = new Set(lines.map(({ cells }) => cells[0]))
    const silent = all.filter(({ metadata }) => !measured.has(metadata.name))
    const unknown = silent.map(({ metadata }) => [
      metadata.name ?? '',
      ...measures.flatMap(() => ['<unknown>', '<unknown>']),
    ])
    const headers = measures.flatMap((measure) => [usageHeaders[measure], `${measure.toUpperCase()}(%)`])
    print(host, flags, ['NAME', ...headers], [...rows, ...unknown])
  })
}

function checkFlags(kind: 'pod' | 'node', names: readonly string[], flags: TopFlags): void {
  const { selector = '', fieldSelector = '', sortBy = '' } = flags
  if (names.length > 1) {
    throw new UsageError(`${kind} [NAME | -l label]`)
  }
  if (sortBy !== '' && sortBy !== 'cpu' && sortBy !== 'memory') {
    throw new CliError('--sort-by accepts only cpu or memory')
  }
  if (names.length > 0 && (selector !== '' || fieldSelector !== '')) {
    throw new CliError(`only one of NAME or ${kind === 'node' ? '--' : ''}selector can be provided`)
  }
}

const usageHeaders: Readonly<Record<Measure, string>> = {
  cpu: 'CPU(cores)',
  memory: 'MEMORY(bytes)',
  swap: 'SWAP(bytes)',
}

const measuresOf = ({ showSwap }: TopFlags): readonly Measure[] =>
  showSwap === true ? ['cpu', 'memory', 'swap'] : ['cpu', 'memory']

async function read<T extends KubernetesObject>(
  { client }: Session,
  resource: Resource<T>,
  namespace: string | undefined,
  name: string | undefined,
  flags: TopFlags,
): Promise<readonly T[]> {
  const where = namespace === undefined ? {} : { namespace }
  try {
    if (name !== undefined) return [await client.get(resource, { ...where, name })]
    return (await client.list(resource, { ...where, ...selectionOf(flags) })).items
  } catch (error) {
    // What names no object says that there is no such API.
    if (!hasReason(error, 'NotFound') || (error.status.details?.name ?? '') !== '') throw error
    throw new CliError('Metrics API not available')
  }
}

const selectionOf = ({ selector = '', fieldSelector = '' }: TopFlags) => ({
  ...(selector === '' ? {} : { labelSelector: selector }),
  ...(fieldSelector === '' ? {} : { fieldSelector }),
})

function sumOf(usages: readonly Readonly<Record<string, string>>[]): Usage {
  const sum = (measure: Measure): string =>
    usages.reduce((total, usage) => formatQuantity(addQuantity(total, usage[measure] ?? '0')), '0')
  return { cpu: sum('cpu'), memory: sum('memory'), swap: sum('swap') }
}

function sorted<L extends Line>(lines: readonly L[], { sortBy }: TopFlags): readonly L[] {
  const amount = ({ usage }: Line): number =>
    sortBy === 'cpu' ? quantityMilli(usage.cpu) : sortBy === 'memory' ? quantityValue(usage.memory) : 0
  return lines.toSorted((a, b) => amount(b) - amount(a) || compareCells(a.cells, b.cells))
}

/** By the first cells that differ: namespaces go before names. */
function compareCells(some: readonly string[], others: readonly string[]): number {
  const at = some.findIndex((cell, index) => cell !== others[index])
  return at < 0 ? 0 : compareText(some[at] ?? '', others[at] ?? '')
}

const mebibyte = 1024 * 1024

function usageCell(usage: Usage, measure: Measure): string {
  if (measure === 'cpu') return `${quantityMilli(usage.cpu)}m`
  return `${Math.trunc(quantityValue(usage[measure]) / mebibyte)}Mi`
}

/** Beside what is used, how much of what there is for pods that is. */
function shareCells(
  usage: Usage,
  measure: Measure,
  node: Node | undefined,
  { showCapacity }: TopFlags,
): readonly string[] {
  const { capacity, allocatable, nodeInfo } = node?.status ?? {}
  if (measure === 'swap') {
    const swap = nodeInfo?.swap?.capacity
    if (swap === undefined) return ['<unknown>', '<unknown>']
    return [usageCell(usage, measure), shareText(quantityValue(usage.swap), swap)]
  }
  const available = (showCapacity === true ? capacity : allocatable)?.[measure]
  const used = measure === 'cpu' ? quantityMilli(usage.cpu) : quantityValue(usage.memory)
  const most = measure === 'cpu' ? quantityMilli(available ?? '0') : quantityValue(available ?? '0')
  return [usageCell(usage, measure), available === undefined ? '<unknown>' : shareText(used, most)]
}

const shareText = (used: number, most: number): string => `${most === 0 ? 0 : Math.trunc((used / most) * 100)}%`

/** What all use together, below a stroke in each column. */
function sumRows(total: Usage, width: number, measures: readonly Measure[]): readonly (readonly string[])[] {
  const before = Array.from({ length: width - measures.length }, () => '')
  return [
    [...before, ...measures.map(() => '________')],
    [...before, ...measures.map((measure) => usageCell(total, measure))],
  ]
}

function print(host: Host, flags: TopFlags, headers: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = flags.headers ? [headers, ...rows] : rows
  // The last cell of a row ends as the others do: it is as wide as its column.
  host.stdout.write(alignTabs(all.map((cells) => `${cells.join('\t')}\t\n`).join(''), tableAlignment))
}
