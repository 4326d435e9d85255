import type { Pod } from '@coracle/api'
import { CliError } from '../cli-error.ts'

/** Names the container that commands take where none is named. */
const defaultContainerAnnotation = 'kubectl.kubernetes.io/default-container'

export interface ContainerChoice {
  readonly container: string
  /** What to tell the user about the choice. */
  readonly note?: string
  /** What to tell of an annotation that names a container which is not there. */
  readonly missing?: string
}

/**
 * The container of a pod that is meant: the one named, the one its annotation names, or the first, with a note where
 * there are others. Throws a CliError where it has none of that name.
 */
export function chooseContainer(pod: Pod, wanted: string | undefined): ContainerChoice {
  const container = wanted ?? annotatedContainer(pod)
  if (container === undefined) return firstContainer(pod)
  if (hasContainer(pod, container)) return { container }
  throw new CliError(
    `container ${container} is not valid for pod ${pod.metadata.name} out of: ${listedContainers(pod)}`,
  )
}

/** As `chooseContainer`, where an annotation that names no container of the pod is told of, and does not count. */
export function chooseContainerForLogs(pod: Pod, wanted: string | undefined): ContainerChoice {
  const annotated = annotatedContainer(pod)
  if (wanted !== undefined || annotated === undefined || hasContainer(pod, annotated))
    return chooseContainer(pod, wanted)
  const { container, note } = firstContainer(pod)
  const missing = `Default container name ${JSON.stringify(annotated)} not found in pod ${pod.metadata.name}`
  return { container, missing, ...(note === undefined ? {} : { note }) }
}

const annotatedContainer = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.[defaultContainerAnnotation] || undefined

function firstContainer(pod: Pod): ContainerChoice {
  const [first] = pod.spec.containers
  if (first === undefined) throw new CliError(`pod ${pod.metadata.name} has no containers`)
  if (allContainers(pod).length === 1) return { container: first.name }
  return { container: first.name, note: `Defaulted container "${first.name}" out of: ${listedContainers(pod)}` }
}

/** `web, debugger (ephem), setup (init)` */
function listedContainers({ spec }: Pod): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  return [
    ...containers.map(({ name }) => name),
    ...ephemeralContainers.map(({ name }) => `${name} (ephem)`),
    ...initContainers.map(({ name }) => `${name} (init)`),
  ].join(', ')
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
