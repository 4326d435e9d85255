import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ClusterPlace, clustersDirectory, defaultClusterName, placeFlagText } from '../local/cluster-place.ts'

export interface NextStepsOptions {
  readonly place: ClusterPlace
  /** Absolute. */
  readonly kubeconfig: string
  readonly memory: boolean
  /** What to look at first. */
  readonly resource: 'pods' | 'nodes'
  /** Whether `coracle` is run through npm, and found by `npx` alone. */
  readonly viaNpm: boolean
  /** Whether the server goes on by itself, and the terminal is free. */
  readonly isDetached: boolean
}

/** What a person at a terminal may do now, for those who see a cluster for the first time. */
export function nextSteps(options: NextStepsOptions): string {
  const { place, kubeconfig, resource, viaNpm, isDetached } = options
  const coracle = viaNpm ? 'npx coracle' : 'coracle'
  const flags = placeFlagText(place)
  const isNamed = place.home !== undefined && place.name !== defaultClusterName
  return [
    '',
    isDetached ? '  Next:' : '  In another terminal:',
    `    export KUBECONFIG=${quoted(kubeconfig)}`,
    `    ${coracle} get ${resource} -o wide      (or kubectl get ${resource} -o wide)`,
    ...(isNamed ? [`    ${coracle} use ${place.name}      to be meant here without KUBECONFIG`] : []),
    ...(isDetached
      ? [
          `    ${coracle} server-logs${flags} -f      what happens in it`,
          `    ${coracle} status${flags}, ${coracle} down${flags}`,
        ]
      : []),
    `  To start afresh: ${afresh(options, coracle)}`,
    '',
    '',
  ].join('\n')
}

function afresh({ place, memory, isDetached }: NextStepsOptions, coracle: string): string {
  if (memory) return 'nothing is kept: each start is afresh'
  const { directory, home } = place
  const stop = isDetached ? `${coracle} down${placeFlagText(place)}` : 'Ctrl-C'
  // The directory of the cluster without a name holds those with one.
  const holdsOthers = directory === home && existsSync(clustersDirectory(home))
  const paths = holdsOthers ? ['store', 'store.made', 'kubelet'].map((name) => join(directory, name)) : [directory]
  return `${stop}, then rm -r ${paths.map(quoted).join(' ')}`
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
