/** What limit ranges give and what they forbid, in the words of upstream's limitranger. Pure. */
import {
  type Container,
  compareQuantity,
  compareText,
  formatQuantity,
  type LimitRange,
  type LimitRangeItem,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  podLimits,
  podRequests,
  quantityToNumber,
  type ResourceList,
  type ResourceQuantities,
} from '@coracle/api'

const annotation = 'kubernetes.io/limit-ranger'

/** The pod with requests and limits for containers that say none; an annotation says which it was given. */
export function withDefaultResources(pod: Pod, ranges: readonly LimitRange[]): Pod {
  return ranges.reduce(withDefaultsOf, pod)
}

function withDefaultsOf(pod: Pod, { spec }: LimitRange): Pod {
  const ofContainers = (spec?.limits ?? []).filter(({ type }) => type === 'Container')
  const limits: ResourceList = Object.assign({}, ...ofContainers.map((item) => item.default))
  const requests: ResourceList = Object.assign({}, ...ofContainers.map((item) => item.defaultRequest))
  const notes: string[] = []
  const fill = (prefix: string) => (container: Container) => {
    const missing = (own: ResourceList | undefined, given: ResourceList) =>
      Object.keys(given).filter((name) => own?.[name] === undefined)
    const { resources } = container
    const newRequests = missing(resources?.requests, requests)
    const newLimits = missing(resources?.limits, limits)
    if (newRequests.length + newLimits.length === 0) return container
    const note = (names: readonly string[], what: string) =>
      names.length > 0 &&
      notes.push(`${[...names].sort(compareText).join(', ')} ${what} for ${prefix} ${container.name}`)
    note(newRequests, 'request')
    note(newLimits, 'limit')
    return {
      ...container,
      resources: {
        ...resources,
        requests: { ...requests, ...resources?.requests },
        limits: { ...limits, ...resources?.limits },
      },
    }
  }
  const { containers, initContainers } = pod.spec
  const filled = containers.map(fill('container'))
  const filledInit = initContainers?.map(fill('init container'))
  if (notes.length === 0) return pod
  const { annotations } = pod.metadata
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` },
    },
    spec: {
      ...pod.spec,
      containers: filled,
      ...(filledInit === undefined ? {} : { initContainers: filledInit }),
    },
  }
}

/** What a limit range has against this pod. */
export function podLimitProblems({ spec }: Pod): (range: LimitRange) => readonly string[] {
  return (range) =>
    (range.spec?.limits ?? []).flatMap((item) => {
      switch (item.type) {
        case 'Container':
          return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
            problemsOf(item, resources?.requests ?? {}, resources?.limits ?? {}),
          )
        case 'Pod':
          return problemsOf(item, ...amountsOfPod(spec))
        default:
          return []
      }
    })
}

/** What a pod asks for and may use as a whole. The overhead of its runtime is not its own. */
function amountsOfPod({ overhead: _, ...spec }: PodSpec): readonly [ResourceList, ResourceList] {
  return [listOf(podRequests(spec)), listOf(podLimits(spec))]
}

const listOf = (quantities: ResourceQuantities): ResourceList =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]))

/** What a limit range has against this claim, which only requests count for. */
export function claimLimitProblems({ spec }: PersistentVolumeClaim): (range: LimitRange) => readonly string[] {
  const requests = spec?.resources?.requests ?? {}
  return (range) =>
    (range.spec?.limits ?? [])
      .filter(({ type }) => type === 'PersistentVolumeClaim')
      .flatMap(({ type, min = {}, max = {} }) => [
        ...Object.entries(min).flatMap(([name, least]) => minProblem(type, name, least, requests, {})),
        ...Object.entries(max).flatMap(([name, most]) => maxRequestProblem(type, name, most, requests)),
      ])
}

function problemsOf(item: LimitRangeItem, requests: ResourceList, limits: ResourceList): readonly string[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio = {} } = item
  return [
    ...Object.entries(min).flatMap(([name, least]) => minProblem(type, name, least, requests, limits)),
    ...Object.entries(max).flatMap(([name, most]) => maxProblem(type, name, most, requests, limits)),
    ...Object.entries(maxLimitRequestRatio).flatMap(([name, ratio]) =>
      ratioProblem(type, name, ratio, requests, limits),
    ),
  ]
}

function minProblem(
  type: string,
  name: string,
  least: string,
  requests: ResourceList,
  limits: ResourceList,
): readonly string[] {
  const rule = `minimum ${name} usage per ${type} is ${least}`
  const [request, limit] = [requests[name], limits[name]]
  if (request === undefined) return [`${rule}.  No request is specified`]
  if (compareQuantity(request, least) < 0) return [`${rule}, but request is ${request}`]
  return limit !== undefined && compareQuantity(limit, least) < 0 ? [`${rule}, but limit is ${limit}`] : []
}

function maxProblem(
  type: string,
  name: string,
  most: string,
  requests: ResourceList,
  limits: ResourceList,
): readonly string[] {
  const rule = `maximum ${name} usage per ${type} is ${most}`
  const [request, limit] = [requests[name], limits[name]]
  if (limit === undefined) return [`${rule}.  No limit is specified`]
  if (compareQuantity(limit, most) > 0) return [`${rule}, but limit is ${limit}`]
  return request !== undefined && compareQuantity(request, most) > 0 ? [`${rule}, but request is ${request}`] : []
}

function maxRequestProblem(type: string, name: string, most: string, requests: ResourceList): readonly string[] {
  const rule = `maximum ${name} usage per ${type} is ${most}`
  const request = requests[name]
  if (request === undefined) return [`${rule}.  No request is specified`]
  return compareQuantity(request, most) > 0 ? [`${rule}, but request is ${request}`] : []
}

function ratioProblem(
  type: string,
  name: string,
  most: string,
  requests: ResourceList,
  limits: ResourceList,
): readonly string[] {
  const rule = `${name} max limit to request ratio per ${type} is ${most}, but`
  const [request, limit] = [requests[name] ?? '0', limits[name] ?? '0']
  if (compareQuantity(request, '0') === 0) return [`${rule} no request is specified or request is 0`]
  if (compareQuantity(limit, '0') === 0) return [`${rule} no limit is specified or limit is 0`]
  const ratio = quantityToNumber(limit) / quantityToNumber(request)
  return ratio > quantityToNumber(most) ? [`${rule} provided ratio is ${ratio.toFixed(6)}`] : []
}
