import type { ResourceList } from '../kinds/core/common.ts'
import type { Container } from '../kinds/core/pod/container.ts'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import type { ContainerStatus, PodCondition } from '../kinds/core/pod/pod-status.ts'
import type { ResourceRequirements } from '../kinds/core/pod/resources.ts'
import { compareQuantity } from '../quantity.ts'

/**
 * The spec of a pod with the resources that it takes of its node. While a change of its resources is under way that is what it has or asks
 * for, whichever is more; what the node can never give it is not counted (component-helpers' PodRequests and PodLimits with
 * UseStatusResources). The spec itself where no change is under way.
 */
export function specOnNode(pod: Pod): PodSpec {
  if (!isBeingResized(pod)) return pod.spec
  const { spec, status } = pod
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const isRefused = isInfeasible(pod)
  const taken = (container: Container): Container => {
    const given = statuses.find(({ name }) => name === container.name)
    return given === undefined ? container : withTaken(container, given, isRefused)
  }
  const initContainers = spec.initContainers?.map(taken)
  return {
    ...spec,
    ...takenAsWhole(pod, isRefused),
    containers: spec.containers.map(taken),
    ...(initContainers === undefined ? {} : { initContainers }),
  }
}

/** Whether a pod may have other resources than it asks for. */
export function isBeingResized({ metadata, status }: Pod): boolean {
  if (status?.containerStatuses === undefined) return false
  return status.observedGeneration !== metadata.generation || status.conditions?.some(isResize) === true
}

/** A pod that is to have less has more until its node has taken it back, which may be never: memory that is in use stays. */
const isResize = (condition: PodCondition): boolean =>
  isPendingResize(condition) || condition.type === 'PodResizeInProgress'

const isPendingResize = ({ type }: PodCondition): boolean => type === 'PodResizePending'

/** Whether the node can never give what is asked for now. What it has said of an earlier request does not count. */
function isInfeasible({ metadata, status }: Pod): boolean {
  const pending = status?.conditions?.find(isPendingResize)
  if (pending?.reason !== 'Infeasible') return false
  return pending.observedGeneration === undefined || pending.observedGeneration === metadata.generation
}

/** What a pod takes as a whole, of those resources that its spec names for it. */
function takenAsWhole({ spec, status }: Pod, isRefused: boolean): Pick<PodSpec, 'resources'> {
  const { resources } = spec
  const given = status?.resources
  if (resources === undefined || given === undefined) return {}
  const taken = (asked: ResourceList | undefined, ...has: readonly (ResourceList | undefined)[]) => {
    if (asked === undefined) return undefined
    const most = has.reduce<ResourceList>((larger, list) => largerOf(list, larger), isRefused ? {} : asked)
    return Object.fromEntries(Object.keys(asked).map((name) => [name, most[name] ?? '0']))
  }
  const requests = taken(resources.requests, given.requests, status?.allocatedResources)
  return {
    resources: { ...resources, requests, limits: taken(resources.limits, given.limits) } as ResourceRequirements,
  }
}

function withTaken(container: Container, given: ContainerStatus, isRefused: boolean): Container {
  const { requests, limits } = container.resources ?? {}
  const taken = (asked: ResourceList | undefined, has: ResourceList | undefined): ResourceList | undefined =>
    has === undefined ? asked : largerOf(isRefused ? {} : asked, has)
  const { allocatedResources = given.resources?.requests } = given
  return {
    ...container,
    resources: {
      ...container.resources,
      requests: taken(requests, allocatedResources && largerOf(given.resources?.requests, allocatedResources)),
      limits: taken(limits, given.resources?.limits),
    },
  } as Container
}

function largerOf(asked: ResourceList = {}, given: ResourceList): ResourceList {
  const larger = Object.entries(asked).filter(([name, amount]) => compareQuantity(amount, given[name] ?? '0') > 0)
  return { ...given, ...Object.fromEntries(larger) }
}
