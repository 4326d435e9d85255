import {
  addQuantity,
  compareText,
  formatQuantity,
  hasReason,
  type KubernetesObject,
  type Node,
  type NodeMetrics,
  nodeMetrics,
  nodes,
  type PodMetrics,
  podMetrics,
  quantityMilli,
  quantityValue,
  type Resource,
} from '@coracle/api'
import { CliError } from '../cli-error.ts'
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
  readonly sortBy?: 'cpu' | 'memory'
  /** False with `--no-headers`. */
  readonly headers: boolean
}

/** Cores and bytes, as quantities. */
interface Usage {
  readonly cpu: string
  readonly memory: string
}

interface Line extends Usage {
  /** What stands before the usage. */
  readonly cells: readonly string[]
}

/** `coracle top pod [NAME]` */
export async function topPods(host: Host, [name, ...more]: readonly string[], flags: TopFlags): Promise<void> {
  refuseArguments(name, more, flags)
  await withSession(host, flags, async (session) => {
    const { allNamespaces = false, containers = false } = flags
    const found = await read<PodMetrics>(
      session,
      podMetrics,
      allNamespaces ? undefined : session.namespace,
      name,
      flags,
    )
    if (found.length === 0) {
      host.stderr.write(
        allNamespaces ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`,
      )
      return
    }
    const lines = found.flatMap((pod): readonly Line[] => {
      const where = allNamespaces ? [pod.metadata.namespace ?? ''] : []
      const podName = pod.metadata.name ?? ''
      if (!containers) return [{ cells: [...where, podName], ...sumOf(pod.containers.map(({ usage }) => usage)) }]
      return pod.containers.map((each) => ({ cells: [...where, podName, each.name], ...sumOf([each.usage]) }))
    })
    const headers = [...(allNamespaces ? ['NAMESPACE'] : []), ...(containers ? ['POD', 'NAME'] : ['NAME'])]
    print(
      host,
      flags,
      [...headers, 'CPU(cores)', 'MEMORY(bytes)'],
      sorted(lines, flags),
      usageCells,
      flags.sum === true,
    )
  })
}

/** `coracle top node [NAME]` */
export async function topNodes(host: Host, [name, ...more]: readonly string[], flags: TopFlags): Promise<void> {
  refuseArguments(name, more, flags)
  await withSession(host, flags, async (session) => {
    const found = await read<NodeMetrics>(session, nodeMetrics, undefined, name, flags)
    if (found.length === 0) return void host.stderr.write('No resources found\n')
    const all =
      name === undefined ? (await session.client.list(nodes)).items : [await session.client.get(nodes, { name })]
    const byName = new Map(all.map((node) => [node.metadata.name, node]))
    const lines = found.map(({ metadata, usage }) => ({ cells: [metadata.name ?? ''], ...sumOf([usage]) }))
    const headers = ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)']
    print(host, flags, headers, sorted(lines, flags), (line) =>
      shareCells(line, byName.get(line.cells[0] ?? ''), flags),
    )
  })
}

function refuseArguments(name: string | undefined, more: readonly string[], { selector = '' }: TopFlags): void {
  if (more.length > 0) throw new CliError('top takes one name at most: select several with -l')
  if (name !== undefined && selector !== '') throw new CliError('name one, or select with -l: not both')
}

async function read<T extends KubernetesObject>(
  { client }: Session,
  resource: Resource<T>,
  namespace: string | undefined,
  name: string | undefined,
  { selector = '', fieldSelector = '' }: TopFlags,
): Promise<readonly T[]> {
  const where = namespace === undefined ? {} : { namespace }
  try {
    if (name !== undefined) return [await client.get(resource, { ...where, name })]
    const selection = {
      ...(selector === '' ? {} : { labelSelector: selector }),
      ...(fieldSelector === '' ? {} : { fieldSelector }),
    }
    return (await client.list(resource, { ...where, ...selection })).items
  } catch (error) {
    // What names no object says that there is no such API.
    if (!hasReason(error, 'NotFound') || (error.status.details?.name ?? '') !== '') throw error
    throw new CliError('Metrics API not available')
  }
}

function sumOf(usages: readonly Readonly<Record<string, string>>[]): Usage {
  const sum = (resource: keyof Usage): string =>
    usages.reduce((total, usage) => formatQuantity(addQuantity(total, usage[resource] ?? '0')), '0')
  return { cpu: sum('cpu'), memory: sum('memory') }
}

function sorted(lines: readonly Line[], { sortBy }: TopFlags): readonly Line[] {
  const amount = (line: Line): number =>
    sortBy === 'cpu' ? quantityMilli(line.cpu) : sortBy === 'memory' ? quantityValue(line.memory) : 0
  return lines.toSorted((a, b) => amount(b) - amount(a) || compareText(a.cells.join('/'), b.cells.join('/')))
}

const mebibyte = 1024 * 1024
const cpuCell = ({ cpu }: Usage): string => `${quantityMilli(cpu)}m`
const memoryCell = ({ memory }: Usage): string => `${Math.trunc(quantityValue(memory) / mebibyte)}Mi`
const usageCells = (line: Line): readonly string[] => [cpuCell(line), memoryCell(line)]

/** Beside what is used, how much of what there is for pods that is. */
function shareCells(line: Line, node: Node | undefined, { showCapacity }: TopFlags): readonly string[] {
  const { cpu, memory } = (showCapacity === true ? node?.status?.capacity : node?.status?.allocatable) ?? {}
  const share = (used: number, available: number): string =>
    available === 0 ? '<unknown>' : `${Math.trunc((used / available) * 100)}%`
  return [
    cpuCell(line),
    share(quantityMilli(line.cpu), quantityMilli(cpu ?? '0')),
    memoryCell(line),
    share(quantityValue(line.memory), quantityValue(memory ?? '0')),
  ]
}

/** What all use together, below a stroke; nothing stands under their names. */
function sumRows(lines: readonly Line[], namesCount: number): readonly (readonly string[])[] {
  const names = Array.from({ length: namesCount }, () => '')
  const stroke = '________'
  return [
    [...names, stroke, stroke],
    [...names, ...usageCells({ cells: [], ...sumOf(lines.map(({ cpu, memory }) => ({ cpu, memory }))) })],
  ]
}

function print(
  host: Host,
  flags: TopFlags,
  headers: readonly string[],
  lines: readonly Line[],
  cellsOf: (line: Line) => readonly string[],
  withSum = false,
): void {
  const rows = lines.map((line) => [...line.cells, ...cellsOf(line)])
  const all = [...(flags.headers ? [headers] : []), ...rows, ...(withSum ? sumRows(lines, headers.length - 2) : [])]
  host.stdout.write(alignTabs(all.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment))
}
