import { assert, type Clock } from '@coracle/environment'
import { type Nodes, type NodesOptions, processNodes } from './nodes.ts'

/** The nodes of a cluster, to be started. Those that are simulated are loaded where they are asked for. */
export async function createNodes(options: NodesOptions, clock: Clock): Promise<Nodes> {
  const { count, runtime } = options
  assert(Number.isInteger(count) && count >= 0, `not a number of nodes: ${count}`)
  if (runtime !== 'simulated') return processNodes(options)
  const { simulatedNodes } = await clock.hold(import('./simulated-nodes.ts'))
  return simulatedNodes(options)
}
