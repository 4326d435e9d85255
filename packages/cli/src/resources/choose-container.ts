import type { Pod } from '@coracle/api'
import { CliError } from '../cli-error.ts'

/** Names the container that commands take where none is named. */
const defaultContainerAnnotation = 'kubectl.kubernetes.io/default-container'

export interface ContainerChoice {
  readonly container: string
  /** What to tell the user about the choice. */
  readonly note?: string
}

/**
 * The container of a pod that is meant: the one named, the one its annotation names, or the first, with a note where
 * there are others. Throws a CliError where it has none of that name.
 */
export function chooseContainer(pod: Pod, wanted: string | undefined): ContainerChoice {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec
  const podName = pod.metadata.name ?? ''
  const names = allContainers(pod)
  const byAnnotation = pod.metadata.annotations?.[defaultContainerAnnotation]
  if (wanted !== undefined) {
    if (names.includes(wanted)) return { container: wanted }
    throw new CliError(`container ${wanted} is not valid for pod ${podName}`)
  }
  if (byAnnotation !== undefined && names.includes(byAnnotation)) return { container: byAnnotation }
  const [first] = containers
  if (first === undefined) throw new CliError(`pod ${podName} has no containers`)
  if (names.length === 1) return { container: first.name }
  const listed = [
    ...containers.map(({ name }) => name),
    ...ephemeralContainers.map(({ name }) => `${name} (ephem)`),
    ...initContainers.map(({ name }) => `${name} (init)`),
  ]
  return { container: first.name, note: `Defaulted container "${first.name}" out of: ${listed.join(', ')}` }
}

/** The names of all containers of a pod, in the order in which they start. */
export function allContainers({ spec }: Pod): readonly string[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
}

export const hasContainer = (pod: Pod, name: string): boolean => allContainers(pod).includes(name)

/** The pod with most to say: placed before unplaced, running before pending, ready before not, older before younger. */
export function choosePod(candidates: readonly Pod[]): Pod | undefined {
  const rank = (pod: Pod): readonly number[] => [
    (pod.spec.nodeName ?? '') === '' ? 1 : 0,
    phaseRank[pod.status?.phase ?? ''] ?? 1,
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true ? 0 : 1,
  ]
  return candidates.toSorted((a, b) => {
    const [ours, theirs] = [rank(a), rank(b)]
    const difference = ours.map((each, index) => each - (theirs[index] ?? 0)).find((each) => each !== 0)
    if (difference !== undefined) return difference
    return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1
  })[0]
}

const phaseRank: Readonly<Record<string, number>> = { Running: 0, Unknown: 1, Pending: 2, Succeeded: 2, Failed: 2 }
