import { type Container, deepEqual, finderOf, type Pod, type PodSpec, type ResourceRequirements } from '@coracle/api'

/** How it is with a change of a pod's resources that is not done. */
export interface ResizeProgress {
  /** The node cannot spare it at the moment. */
  readonly pending?: { readonly message: string } | undefined
  /** Containers have yet to start anew for it, or to be given what they are to have. */
  readonly inProgress: boolean
  /** Why they could not be given it: it is tried again. */
  readonly error?: string | undefined
  /** What containers run with that are to have something else, by name. */
  readonly actual?: ReadonlyMap<string, ResourceRequirements> | undefined
}

/** Where a pod has containers with resources. */
export const containerLists = ['containers', 'initContainers'] as const

/** The pod with what `spec` and its containers have: where more is asked for than the node has given. */
export function withResourcesOf(pod: Pod, spec: PodSpec): Pod {
  const given = (list: (typeof containerLists)[number]): readonly Container[] | undefined => {
    const named = byName(spec[list])
    return pod.spec[list]?.map((container) => {
      const before = named(container.name)
      return before === undefined ? container : withResources(container, before.resources)
    })
  }
  return withContainers(withPodLevel(pod, spec.resources), given)
}

/** The pod with what its status says that its containers run with: what an earlier life of the node agent has done, and no more. */
export function withResourcesOfStatus(pod: Pod): Pod {
  const statuses = { containers: pod.status?.containerStatuses, initContainers: pod.status?.initContainerStatuses }
  const whole = withPodLevel(pod, givenAsWhole(pod))
  return withContainers(whole, (list) => {
    const named = byName(statuses[list])
    return pod.spec[list]?.map((container) => {
      const status = named(container.name)
      return status?.resources === undefined ? container : withResources(container, status.resources)
    })
  })
}

/** Finds one of them by its name. */
export const byName = <T extends { readonly name: string }>(items: readonly T[] = []) =>
  finderOf(items, ({ name }) => name)

/** What the spec names for the pod as a whole, in the amounts of the status, which names more. */
function givenAsWhole({ spec, status }: Pod): ResourceRequirements | undefined {
  const { resources } = spec
  const given = (list: 'limits' | 'requests') => {
    const [asked, has] = [resources?.[list], status?.resources?.[list]]
    if (asked === undefined || has === undefined) return {}
    return { [list]: Object.fromEntries(Object.keys(asked).map((name) => [name, has[name] ?? asked[name] ?? '0'])) }
  }
  return resources && { ...resources, ...given('limits'), ...given('requests') }
}

/** The same pod where nothing is different. Without resources as a whole it stays so. */
function withPodLevel(pod: Pod, resources: ResourceRequirements | undefined): Pod {
  const { resources: asked } = pod.spec
  if (asked === undefined || resources === undefined || deepEqual(asked, resources)) return pod
  return { ...pod, spec: { ...pod.spec, resources } }
}

/** The same pod where nothing is different. */
function withContainers(
  pod: Pod,
  given: (list: (typeof containerLists)[number]) => readonly Container[] | undefined,
): Pod {
  const isSame = containerLists.every(
    (list) => given(list)?.every((each, index) => each === pod.spec[list]?.[index]) ?? true,
  )
  if (isSame) return pod
  const initContainers = given('initContainers')
  const containers = given('containers') ?? []
  return { ...pod, spec: { ...pod.spec, containers, ...(initContainers === undefined ? {} : { initContainers }) } }
}

const withResources = (container: Container, resources: ResourceRequirements | undefined): Container =>
  deepEqual(container.resources ?? {}, resources ?? {})
    ? container
    : ({ ...container, resources: resources ?? {} } as Container)
