import { checkFormat } from '@coracle/api'
import { processNodesMax } from '@coracle/cluster'
import { nodeAgentsMax } from '@coracle/kubelet'
import { CliError } from '../cli-error.ts'
import { refuseImages } from './container-runtime-flags.ts'
import type { UpFlags } from './up-flags.ts'

/** Throws a CliError where flags cannot be, or not together. Reads and changes nothing. */
export function checkFlags(flags: UpFlags): void {
  const { nodes = 1, runtime = 'process', images, missingImages, listen, nodePrefix, podManifestPath } = flags
  if (listen === '') throw new CliError('--listen is empty: give an address, or 0.0.0.0 for all of this machine')
  const [problem] =
    nodePrefix === undefined ? [] : checkFormat('dns1123-subdomain', `${nodePrefix}${Math.max(nodes - 1, 0)}`)
  if (problem !== undefined) throw new CliError(`--node-prefix: no node can be named "${nodePrefix}0": ${problem}`)
  if (missingImages !== undefined && runtime !== 'simulated') {
    throw new CliError('--missing-images is for simulated nodes: give --runtime simulated too')
  }
  if (podManifestPath !== undefined && runtime === 'simulated') {
    throw new CliError('--pod-manifest-path is for nodes whose containers run something: leave one of the two out')
  }
  refuseImages({ runtime, ...(images === undefined ? {} : { images }) })
  if (runtime === 'process' && nodes > processNodesMax) {
    throw new CliError(
      `one host cannot be ${nodes} nodes of real processes: give at most ${processNodesMax} with --nodes, or --runtime simulated`,
    )
  }
  if (runtime === 'simulated' && nodes > nodeAgentsMax) {
    throw new CliError(`a cluster has at most ${nodeAgentsMax} simulated nodes: give no more with --nodes`)
  }
}
