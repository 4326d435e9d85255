import {
  compareText,
  type EndpointSlice,
  type Node,
  type Pod,
  type Service,
  selectorFromLabelSelector,
} from '@coracle/api'
import { frontendsOf } from '@coracle/proxy'
import { excludedLabel, zoneLabel } from '../balancers.ts'
import { type Change, type Invariant, isActive, isReady, labelOf, type View } from '../view.ts'

/** What is promised of load balancers, and of what leads to services. */
export const balancerInvariants: readonly Invariant[] = [
  { name: 'a load balancer leads to nodes that are there', check: newAddresses },
  { name: 'in the end a load balancer has the addresses of nodes that take its load', finally: balancerProblems },
  { name: 'in the end a proxy leads to the nearest pods that are ready', finally: proxyProblems },
]

const ingressOf = (service: Service | undefined): readonly string[] =>
  (service?.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)

const addressesOf = ({ status }: Node): readonly string[] =>
  (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address)

function takesLoad({ metadata, status }: Node): boolean {
  const isWell = status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true
  return isWell && metadata.deletionTimestamp === undefined && metadata.labels?.[excludedLabel] === undefined
}

/** Judged by what whoever gives the addresses may have seen. */
function newAddresses({ old, object }: Change, view: View): string | undefined {
  if (object?.kind !== 'Service' || !view.isCalm) return undefined
  const before = new Set(ingressOf(old as Service | undefined))
  const added = ingressOf(object as Service).filter((address) => !before.has(address))
  const wrong = added.find(
    (address) =>
      !view
        .list<Node>('Node')
        .flatMap(({ metadata }) => view.recent<Node>(metadata.uid ?? ''))
        .some((node) => takesLoad(node) && addressesOf(node).includes(address)),
  )
  return wrong === undefined ? undefined : `${labelOf(object)} gets ${wrong}, and no node there takes load at it`
}

function readyPodsOf({ metadata: { namespace }, spec }: Service, view: View): readonly Pod[] {
  const selector = selectorFromLabelSelector({ matchLabels: spec.selector ?? {} })
  return view
    .list<Pod>('Pod')
    .filter(({ metadata }) => metadata.namespace === namespace && selector.matches(metadata.labels))
    .filter((pod) => isActive(pod) && isReady(pod))
}

/** Each has the addresses of all nodes that take load, but for those at which an older one has its port. */
function balancerProblems(view: View): readonly string[] {
  const nodes = view.list<Node>('Node').filter(takesLoad)
  const taken = new Set<string>()
  const oldestFirst = view.list<Service>('Service').toSorted((a, b) => {
    const keyOf = ({ metadata }: Service) => `${metadata.namespace}/${metadata.name}`
    const ages = compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '')
    return ages || compareText(keyOf(a), keyOf(b))
  })
  return oldestFirst.flatMap((service) => {
    const { type, ports = [], externalTrafficPolicy } = service.spec
    const isBalanced = type === 'LoadBalancer' && service.metadata.deletionTimestamp === undefined
    const local = new Set(readyPodsOf(service, view).map(({ spec }) => spec.nodeName))
    const addresses = (isBalanced ? nodes : [])
      .filter(({ metadata }) => externalTrafficPolicy !== 'Local' || local.has(metadata.name))
      .flatMap(addressesOf)
    // Nodes of two servers have the same.
    const wanted = [...new Set(addresses)].filter((address) =>
      ports.every(({ port, protocol }) => !taken.has(`${address} ${port} ${protocol}`)),
    )
    for (const address of wanted) for (const { port, protocol } of ports) taken.add(`${address} ${port} ${protocol}`)
    const [has, should] = [ingressOf(service), wanted].map((each) => [...each].sort().join(' ') || 'nothing')
    return has === should ? [] : [`${labelOf(service)} has ${has}, and should have ${should}`]
  })
}

/** Where the proxy of each node leads what is for the address of a service within the cluster. */
function proxyProblems(view: View): readonly string[] {
  const all = [...view.all()].filter(({ kind }) => kind === 'EndpointSlice') as unknown as readonly EndpointSlice[]
  const forwarded = view
    .list<Service>('Service')
    .filter(({ spec }) => spec.clusterIP !== undefined && spec.selector !== undefined)
  return forwarded.flatMap((service) => {
    const { namespace, name } = service.metadata
    const slices = all.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    )
    const ready = new Set(readyPodsOf(service, view).map(({ status }) => status?.podIP ?? ''))
    const endpoints = slices
      .flatMap((slice) => slice.endpoints ?? [])
      .filter(({ addresses }) => ready.has(addresses[0] ?? ''))
    // Simulated pods of two servers may have one address: nobody can tell then which of them is meant.
    if (new Set(endpoints.map(({ addresses }) => addresses[0])).size < endpoints.length) return []
    return view.list<Node>('Node').flatMap((node) => {
      const zone = node.metadata.labels?.[zoneLabel]
      const frontends = frontendsOf(service, slices, {
        isOwnNode: (each) => each === node.metadata.name,
        nodeAddresses: [],
        ownZones: () => new Set(zone === undefined ? [] : [zone]),
      })
      const backends = frontends.find(({ address }) => address === service.spec.clusterIP)?.backends ?? []
      const nearest = nearestOf(service, node, endpoints).map(({ addresses }) => addresses[0] ?? '')
      const [leads, should] = [backends.map(({ address }) => address), nearest].map(
        (each) => [...new Set(each)].sort().join(' ') || 'nothing',
      )
      if (leads === should) return []
      return [`from ${node.metadata.name} to ${labelOf(service)}: ${leads}, and should be ${should}`]
    })
  })
}

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]

/** Those on the node itself or in its zone, as the service prefers, where there are some; all are to have a zone then. */
function nearestOf({ spec }: Service, { metadata }: Node, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const { trafficDistribution } = spec
  if (trafficDistribution === undefined) return endpoints
  const onNode = endpoints.filter(({ nodeName }) => nodeName === metadata.name)
  if (trafficDistribution === 'PreferSameNode' && onNode.length > 0) return onNode
  if (endpoints.some(({ zone }) => zone === undefined)) return endpoints
  const inZone = endpoints.filter(({ zone }) => zone === metadata.labels?.[zoneLabel])
  return inZone.length > 0 ? inZone : endpoints
}
