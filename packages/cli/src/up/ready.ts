import type { Host } from '../host.ts'
import { type ClusterPlace, ownKubeconfig, shownPath } from '../local/cluster-place.ts'
import { jsonLine } from './json-printer.ts'
import { nextSteps } from './next-steps.ts'

/** A server that is ready, as it tells of itself. */
export interface Ready {
  readonly url: string
  /** From the start of the process. */
  readonly milliseconds: number
  readonly pid: number
}

export interface ReadyFlags {
  readonly output?: 'json'
  readonly memory?: boolean
  readonly filename: readonly string[]
}

/** Tells that a server is ready: in one line, and a person at a terminal also what may be done now. */
export function tellReady(host: Host, place: ClusterPlace, ready: Ready, flags: ReadyFlags, isDetached: boolean): void {
  const { url, milliseconds, pid } = ready
  const { workingDirectory, stdout, variables } = host
  const kubeconfig = ownKubeconfig(place)
  if (flags.output === 'json') {
    stdout.write(jsonLine({ type: 'ready', name: place.name, url, kubeconfig, milliseconds, pid }))
    return
  }
  const shown = shownPath(workingDirectory, kubeconfig)
  stdout.write(`Coracle is ready at ${url} after ${milliseconds} ms (KUBECONFIG=${shown})\n`)
  if (!stdout.isTerminal) return
  stdout.write(
    nextSteps({
      place,
      kubeconfig,
      memory: flags.memory === true,
      resource: flags.filename.length > 0 ? 'pods' : 'nodes',
      viaNpm: variables.npm_command !== undefined,
      isDetached,
    }),
  )
}
