import { CliError } from '../cli-error.ts'
import type { ClusterPlace } from '../local/cluster-place.ts'
import { readImportRecord } from '../local/import-record.ts'
import type { UpFlags } from './up-flags.ts'

/**
 * How many nodes there are, and of what kind. An imported cluster has those it came with, which are only ever simulated. Throws a CliError where
 * flags ask for others.
 */
export function nodesOf(place: ClusterPlace, { nodes, runtime }: UpFlags) {
  const imported = readImportRecord(place.directory)
  if (imported === undefined) return { nodes: nodes ?? 1, runtime: runtime ?? 'process' } as const
  if (runtime !== undefined && runtime !== 'simulated') {
    const what = runtime === 'process' ? 'processes' : 'containers'
    throw new CliError(
      `${place.shown} was imported from ${imported.source}: its pods would become ${what} of this host; leave --runtime out`,
    )
  }
  return { nodes: nodes ?? 0, runtime: 'simulated', storedNodes: true } as const
}

/**
 * How long simulated containers of Jobs and init containers run, in milliseconds, where their command does not tell: they have to end, so that
 * Jobs complete and pods go on.
 */
export const taskRunTimeMs = 2_000

/**
 * The same with what simulated containers do. In an imported cluster they run on, unless their command or a flag tells for how long: what was
 * under way there goes on.
 */
export async function nodesToStart(place: ClusterPlace, flags: UpFlags) {
  const nodes = nodesOf(place, flags)
  if (nodes.runtime !== 'simulated') return nodes
  const { simulatedBehaviour } = await import('./simulated-behaviour.ts')
  const behaviour = simulatedBehaviour(flags, 'storedNodes' in nodes ? Infinity : taskRunTimeMs)
  return { ...nodes, ...(behaviour && { behaviour }) }
}
