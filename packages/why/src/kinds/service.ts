import {
  daemonSets,
  deployments,
  dnsServiceKey,
  endpointSlices,
  type KubernetesObject,
  type Labels,
  type Pod,
  pods,
  replicaSets,
  replicationControllers,
  type Service,
  selectorFromMap,
  statefulSets,
} from '@coracle/api'
import { latestOf } from '../events.ts'
import type { Facts, KindRules } from '../facts.ts'
import { type Diagnosis, referenceTo, shortName } from '../finding.ts'
import { controllerOf, hasEnded, isGoing, isReady, troubled } from '../owners.ts'

type ServiceFacts = Facts<Service>

/** Kinds with a template of pods, those that own others first. */
const workloads = [deployments, statefulSets, daemonSets, replicationControllers, replicaSets] as const

export const serviceRules: KindRules<Service> = {
  reads: (service) => {
    const { namespace, name } = service.metadata
    const labelSelector = selectorOf(service)
    if (service.spec?.type === 'ExternalName') return []
    if (labelSelector === undefined)
      return [{ resource: endpointSlices, namespace, labelSelector: `kubernetes.io/service-name=${name}` }]
    return [{ resource: pods, namespace, labelSelector }, ...workloads.map((resource) => ({ resource, namespace }))]
  },
  rules: [withoutSelector, selectsNothing, nothingReady, portMissing, notListenedOn, noLoadBalancer],
  leads: (facts) => {
    const own = livePods(facts)
    if (own.length > 0) return own.some(isReady) ? [] : troubled(own)
    return meant(facts)
  },
}

/** The selector as a query; undefined where it has none. */
function selectorOf({ spec }: Service): string | undefined {
  const text = selectorFromMap(spec?.selector).toString()
  return text === '' ? undefined : text
}

const livePods = ({ some }: ServiceFacts): readonly Pod[] => some(pods).filter((pod) => !hasEnded(pod))

/** Endpoints of a service without a selector are somebody's to write. */
function withoutSelector({ object, all }: ServiceFacts): Diagnosis | undefined {
  if (object.spec?.type === 'ExternalName' || selectorOf(object) !== undefined) return undefined
  const slices = all(endpointSlices)
  if (slices === undefined || slices.some(({ endpoints = [] }) => endpoints.length > 0)) return undefined
  return {
    reason: 'NoEndpoints',
    what: 'it has no endpoints',
    because: 'it has no selector, and nobody has written endpoints for it',
    remedy: 'give it a selector, or write an EndpointSlice with the label kubernetes.io/service-name',
  }
}

/** Names are looked up there: the program answers as long as nobody else does. */
const isAnsweredByProgram = ({ metadata: { namespace, name } }: Service): boolean =>
  namespace === dnsServiceKey.namespace && name === dnsServiceKey.name

/** The workloads whose pods it would select. Those that others own are left to them. */
function meant({ object, some }: ServiceFacts): readonly KubernetesObject[] {
  const selector = selectorFromMap(object.spec?.selector)
  return workloads
    .flatMap((resource): readonly KubernetesObject[] => some<KubernetesObject>(resource))
    .filter((workload) => controllerOf(workload) === undefined && selector.matches(templateLabels(workload)))
}

interface WithTemplate {
  readonly spec?: {
    readonly replicas?: number
    readonly template?: { readonly metadata?: { readonly labels?: Labels } }
  }
}

const templateLabels = (workload: KubernetesObject): Labels =>
  (workload as WithTemplate).spec?.template?.metadata?.labels ?? {}

function selectsNothing(facts: ServiceFacts): Diagnosis | undefined {
  const { object, all, some } = facts
  const selector = selectorOf(object)
  const known = all(pods)
  if (object.spec?.type === 'ExternalName' || selector === undefined || known === undefined) return undefined
  if (livePods(facts).length > 0) return undefined
  const because = `no pod has the labels it selects: ${selector}`
  const [workload] = meant(facts)
  if (workload !== undefined) {
    const name = shortName(referenceTo(workload))
    const isNone = (workload as WithTemplate).spec?.replicas === 0
    return {
      reason: isNone ? 'ScaledToZero' : 'NoPods',
      what: 'it has no endpoints',
      because: `${because}; ${name} makes such pods${isNone ? ', and is to have 0 of them' : ''}`,
      remedy: isNone ? `\`coracle scale ${name} --replicas=1\`` : `ask \`coracle why ${name}\``,
      ...(isNone ? {} : { isSymptom: true }),
    }
  }
  if (isAnsweredByProgram(object)) return undefined
  const near = nearest(
    object.spec?.selector ?? {},
    workloads.flatMap((resource) => some<KubernetesObject>(resource)),
  )
  return {
    reason: 'SelectorMatchesNothing',
    what: 'it has no endpoints',
    because,
    remedy: `compare spec.selector with the labels of the pods that are meant${near === undefined ? '' : `: ${near}`}`,
  }
}

/** The workload whose labels come closest: one that has a key of the selector with another value. */
function nearest(selector: Labels, known: readonly KubernetesObject[]): string | undefined {
  for (const workload of known) {
    const labels = templateLabels(workload)
    const key = Object.keys(selector).find((each) => labels[each] !== undefined && labels[each] !== selector[each])
    if (key !== undefined) return `${shortName(referenceTo(workload))} has ${key}=${labels[key]}`
  }
  return undefined
}

function nothingReady(facts: ServiceFacts): Diagnosis | undefined {
  const own = livePods(facts)
  if (own.length === 0 || own.some(isReady) || facts.object.spec?.publishNotReadyAddresses === true) return undefined
  const isLeaving = own.every(isGoing)
  return {
    reason: 'NoPodReady',
    what: 'it has no endpoints that take requests',
    because: `it selects ${own.length === 1 ? '1 pod, which is not ready' : `${own.length} pods, and none of them is ready`}${isLeaving ? ': they are going' : ''}`,
    remedy: 'wait for the pods to be ready, or ask why they are not',
    isSymptom: true,
  }
}

/** A port by a name that no container has leads nowhere; one by number may be open without being told. */
function portMissing(facts: ServiceFacts): readonly Diagnosis[] {
  const own = livePods(facts)
  if (own.length === 0) return []
  const declared = own.flatMap(({ spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ ports = [] }) => ports),
  )
  return (facts.object.spec?.ports ?? []).flatMap(({ port, targetPort = port }): readonly Diagnosis[] => {
    if (typeof targetPort === 'string') {
      if (declared.some(({ name }) => name === targetPort)) return []
      return [
        {
          reason: 'TargetPortMissing',
          what: `its port ${port} leads nowhere`,
          because: `targetPort is ${targetPort}, and no container of its pods has a port of that name`,
          remedy: `name the port ${targetPort} in spec.containers[].ports, or correct targetPort${namesOf(declared)}`,
        },
      ]
    }
    if (declared.length === 0 || declared.some(({ containerPort }) => containerPort === targetPort)) return []
    const numbers = [...new Set(declared.map(({ containerPort }) => containerPort))].join(', ')
    return [
      {
        reason: 'TargetPortNotDeclared',
        what: `its port ${port} may lead nowhere`,
        because: `it goes to port ${targetPort}, and the containers of its pods declare ${numbers}`,
        remedy: 'see that something listens there, or correct targetPort',
        state: 'hint',
      },
    ]
  })
}

function namesOf(declared: readonly { readonly name?: string | undefined }[]): string {
  const names = [...new Set(declared.flatMap(({ name }) => name ?? []))]
  return names.length === 0 ? '' : `: there is ${names.join(', ')}`
}

/** What the proxy has said and not taken back, of a port that is the service's still. A proxy that started since may listen without a word. */
function notListenedOn({ object: { spec }, events }: ServiceFacts): Diagnosis | undefined {
  const because = latestOf(events, ['FailedToListen'], ['Listening'])?.message ?? ''
  const numbers = (spec?.ports ?? []).flatMap(({ port, nodePort = port }) => [port, nodePort])
  const [, port = ''] = /^Cannot listen on \S+ \S+:(\d+): /.exec(because) ?? []
  if (!numbers.includes(Number(port))) return undefined
  return {
    reason: 'FailedToListen',
    what: `its proxy could not listen on port ${port}`,
    because,
    remedy: 'free the port, or give the service another one',
    state: 'hint',
  }
}

/** Why the controller that gives addresses of nodes has none for it. */
const addressesCondition = 'coracle.dev/NodeAddresses'

const remedies: Readonly<Record<string, string>> = {
  PortTaken: 'give it another port, or free the one that is taken: it gets that then',
  NoLocalEndpoints: 'see that its pods are ready, or set externalTrafficPolicy: Cluster',
  NotAnAddressOfNodes: 'leave spec.loadBalancerIP out, or name an address of a node',
}

function noLoadBalancer({ object }: ServiceFacts): Diagnosis | undefined {
  const { spec, status } = object
  if (spec?.type !== 'LoadBalancer' || (status?.loadBalancer?.ingress ?? []).length > 0) return undefined
  const what = 'it has no address outside of the cluster'
  const said = status?.conditions?.find(({ type }) => type === addressesCondition)
  if (said !== undefined) {
    const remedy = remedies[said.reason] ?? 'see that nodes are ready, and have an address of its family'
    return { reason: 'LoadBalancerPending', what, because: said.message, remedy }
  }
  return {
    reason: 'LoadBalancerPending',
    what,
    because: 'it is of type LoadBalancer, and no controller has given it one',
    remedy:
      'start the server with --load-balancer-addresses nodes, run a load balancer controller, or use type NodePort or `coracle port-forward`: within the cluster it works',
  }
}
