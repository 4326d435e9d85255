import {
  type Container,
  type ContainerStatus,
  deepEqual,
  type Pod,
  type PodSpec,
  type ResourceRequirements,
} from '@coracle/api'

/** How it is with a change of a pod's resources that is not done. */
export interface ResizeProgress {
  /** The node cannot spare it: at the moment (`Deferred`) or ever (`Infeasible`). */
  readonly pending?: { readonly reason: 'Deferred' | 'Infeasible'; readonly message: string } | undefined
  /** Containers have yet to start anew for it. */
  readonly inProgress: boolean
}

const lists = ['containers', 'initContainers'] as const

/** The pod with what the containers of `spec` have: where more is asked for than the node has given. */
export function withResourcesOf(pod: Pod, spec: PodSpec): Pod {
  const given = (list: (typeof lists)[number]): readonly Container[] | undefined =>
    pod.spec[list]?.map((container) => {
      const before = spec[list]?.find(({ name }) => name === container.name)
      return before === undefined ? container : withResources(container, before.resources)
    })
  return withContainers(pod, given)
}

/** The pod with what its status says that it has been given: what an earlier life of the node agent has done. */
export function withResourcesOfStatus(pod: Pod): Pod {
  const statuses = { containers: pod.status?.containerStatuses, initContainers: pod.status?.initContainerStatuses }
  return withContainers(pod, (list) =>
    pod.spec[list]?.map((container) => {
      const status = statuses[list]?.find(({ name }) => name === container.name)
      return status?.resources === undefined ? container : withResources(container, givenTo(status))
    }),
  )
}

const givenTo = ({ resources, allocatedResources }: ContainerStatus): ResourceRequirements => ({
  ...resources,
  ...(allocatedResources === undefined ? {} : { requests: allocatedResources }),
})

/** The same pod where nothing is different. */
function withContainers(pod: Pod, given: (list: (typeof lists)[number]) => readonly Container[] | undefined): Pod {
  const isSame = lists.every((list) => given(list)?.every((each, index) => each === pod.spec[list]?.[index]) ?? true)
  if (isSame) return pod
  const initContainers = given('initContainers')
  const containers = given('containers') ?? []
  return { ...pod, spec: { ...pod.spec, containers, ...(initContainers === undefined ? {} : { initContainers }) } }
}

const withResources = (container: Container, resources: ResourceRequirements | undefined): Container =>
  deepEqual(container.resources ?? {}, resources ?? {})
    ? container
    : ({ ...container, resources: resources ?? {} } as Container)

/** The containers that have other resources in another version of a pod, as they are there. */
export function resizedContainers(spec: PodSpec, before: PodSpec): readonly Container[] {
  return lists.flatMap((list) =>
    (spec[list] ?? []).filter((container) => {
      const old = before[list]?.find(({ name }) => name === container.name)
      return old !== undefined && !deepEqual(old.resources ?? {}, container.resources ?? {})
    }),
  )
}

/** Whether a container starts anew for what has changed of its resources. */
export function restartsForResize(container: Container, before: PodSpec): boolean {
  const old = lists.flatMap((list) => before[list] ?? []).find(({ name }) => name === container.name)
  return (container.resizePolicy ?? []).some(({ resourceName, restartPolicy }) => {
    if (restartPolicy !== 'RestartContainer') return false
    const amounts = ({ resources }: Pick<Container, 'resources'>) => [
      resources?.requests?.[resourceName],
      resources?.limits?.[resourceName],
    ]
    return !deepEqual(amounts(container), amounts(old ?? {}))
  })
}

/** What events tell of a change of resources, as upstream writes it. */
export function resizeText(containers: readonly Container[], generation: number | undefined, error?: string): string {
  const shown = containers.map(({ name, resources }) => ({ name, resources }))
  return JSON.stringify({ containers: shown, generation, ...(error === undefined ? {} : { error }) })
}
