import { sumOfContainers } from '../../../placement/pod-resources.ts'
import { quantitiesOf } from '../../../placement/resource-quantities.ts'
import { formatQuantity, isQuantity } from '../../../quantity.ts'
import type { ResourceList } from '../common.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import { isHugePages, isPodLevelResource } from './resource-names.ts'
import type { ResourceRequirements } from './resources.ts'

/**
 * The resources of a pod as a whole with what upstream fills in, where it has any: requests are what its containers
 * request together or, failing that, the limits (core/v1 defaultPodRequests); limits of huge pages are those of its
 * containers (defaultHugePagePodLimits). Undefined where there is nothing to fill in.
 */
export function podResourceDefaults(spec: PodSpec): ResourceRequirements | undefined {
  const { resources } = spec
  if (resources === undefined || (isEmpty(resources.requests) && isEmpty(resources.limits))) return undefined
  const hugePages = podLevelEntries(aggregateLimits(spec)).filter(
    // Who requests them has to say the limit as well.
    ([name]) => isHugePages(name) && resources.requests?.[name] === undefined,
  )
  const limits = withMissing(resources.limits, hugePages)
  if (isEmpty(limits)) return undefined
  // Requests of huge pages are their limits: they cannot be overcommitted.
  const requested = podLevelEntries(aggregateRequests(spec)).filter(([name]) => !isHugePages(name))
  const requests = withMissing(withMissing(resources.requests, requested), podLevelEntries(limits))
  return { ...resources, requests, limits }
}

/** What all containers of a pod request together: init containers run before the rest, sidecars beside it. */
export const aggregateRequests = (spec: PodSpec): ResourceList =>
  aggregate(spec, ({ resources }) => resources?.requests)

/** What all containers of a pod may have together. */
export const aggregateLimits = (spec: PodSpec): ResourceList => aggregate(spec, ({ resources }) => resources?.limits)

function aggregate(spec: PodSpec, of: (container: Container) => ResourceList | undefined): ResourceList {
  const sum = sumOfContainers(spec, (container) => quantitiesOf(amountsOnly(of(container))))
  return Object.fromEntries([...sum].map(([name, amount]) => [name, formatQuantity(amount)]))
}

/** What is no amount has an error of its own. */
function amountsOnly(list: ResourceList | undefined): ResourceList | undefined {
  if (list === undefined || Object.values(list).every(isQuantity)) return list
  return Object.fromEntries(Object.entries(list).filter(([, amount]) => isQuantity(amount)))
}

const isEmpty = (list: ResourceList | undefined): boolean => Object.keys(list ?? {}).length === 0

const podLevelEntries = (list: ResourceList | undefined): readonly (readonly [string, string])[] =>
  Object.entries(list ?? {}).filter(([name]) => isPodLevelResource(name))

/** `list` with those entries that it lacks; itself where it lacks none. */
function withMissing(
  list: ResourceList | undefined,
  entries: readonly (readonly [string, string])[],
): ResourceList | undefined {
  const missing = entries.filter(([name]) => list?.[name] === undefined)
  return missing.length === 0 ? list : { ...list, ...Object.fromEntries(missing) }
}
