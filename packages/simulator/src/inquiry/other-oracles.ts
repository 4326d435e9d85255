import {
  type EndpointSlice,
  type KubernetesObject,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  type ResourceQuota,
  type Service,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Finding } from '@coracle/why'
import { hasEnded, isReady } from '../view.ts'
import { conditionOf, isGoing, type Oracle, podNamed, says, unless, type World } from './oracle.ts'

const selected = (object: KubernetesObject, { view }: World): readonly Pod[] => {
  const { selector } = (object as Service).spec ?? {}
  const matcher = selectorFromLabelSelector({ matchLabels: selector ?? {} })
  return view
    .list<Pod>('Pod')
    .filter(
      ({ metadata }) => metadata.namespace === object.metadata.namespace && matcher.matches(metadata.labels ?? {}),
    )
}

/** A Service selects by equality, and what has ended does not count; a budget by any selector. */
const selectsNone: Oracle = (_, object, world) =>
  object.kind === 'Service'
    ? unless(selected(object, world).every(hasEnded), 'there are pods that it selects')
    : unless(guarded(object as PodDisruptionBudget, world).length === 0, 'there are pods that it selects')

const guarded = ({ metadata, spec }: PodDisruptionBudget, { view }: World): readonly Pod[] => {
  const matcher = selectorFromLabelSelector(spec?.selector)
  return view
    .list<Pod>('Pod')
    .filter((pod) => pod.metadata.namespace === metadata.namespace && matcher.matches(pod.metadata.labels ?? {}))
}

function exhausted(_: Finding, object: KubernetesObject): string | undefined {
  return unless(((object as PodDisruptionBudget).status?.disruptionsAllowed ?? 0) <= 0, 'it allows a disruption')
}

/** The condition of a Service that is to have addresses of nodes. */
const nodeAddresses = 'coracle.dev/NodeAddresses'

/** Findings about objects of any kind, Services, budgets, nodes, namespaces and quotas, by their reasons. */
export const otherOracles: Readonly<Record<string, Oracle>> = {
  HeldByFinalizer: ({ because }, object) => {
    const { finalizers = [] } = object.metadata
    return unless(
      isGoing(object) && finalizers.length > 0 && because.endsWith(finalizers.join(', ')),
      `finalizers: ${finalizers}`,
    )
  },
  NotObserved: (_, object) => {
    const { observedGeneration } =
      (object as { readonly status?: { readonly observedGeneration?: number } }).status ?? {}
    return unless((observedGeneration ?? 0) < (object.metadata.generation ?? 0), 'it was observed')
  },
  ManagersContend: ({ because }, object, { log }) =>
    unless(
      log.countOf(object.metadata.uid ?? '') >= Number(/changed it (\d+) times/.exec(because)?.[1]),
      'it was changed less often',
    ),

  ScaledToZero: selectsNone,
  NoPods: selectsNone,
  SelectorMatchesNothing: selectsNone,
  NoPodReady: (_, object, world) => {
    const own = selected(object, world).filter((pod) => !hasEnded(pod))
    return unless(own.length > 0 && !own.some(isReady), 'it selects no pods, or one of them is ready')
  },
  NoEndpoints: (_, object, { view }) => {
    const { name, namespace } = object.metadata
    const slices = [...view.all()].filter(
      ({ kind, metadata }) => kind === 'EndpointSlice' && metadata.namespace === namespace,
    )
    const own = slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
    const isServed = own.some((slice) => ((slice as unknown as EndpointSlice).endpoints ?? []).length > 0)
    return unless((object as Service).spec?.selector === undefined && !isServed, 'it has a selector, or endpoints')
  },
  LoadBalancerPending: (finding, object, world) => {
    const { spec, status } = object as Service
    if (spec.type !== 'LoadBalancer') return 'it is no load balancer'
    if ((status?.loadBalancer?.ingress ?? []).length > 0) return 'it has an address'
    return conditionOf(object, nodeAddresses) === undefined
      ? unless(finding.because.endsWith('no controller has given it one'), 'no controller says anything of it')
      : says(nodeAddresses, 'False')(finding, object, world)
  },
  BudgetAllowsNone: exhausted,
  BudgetExhausted: exhausted,

  NodeNotReady: says('Ready', 'False'),
  NodeNeverReported: (_, object) => unless(conditionOf(object, 'Ready') === undefined, 'it has reported'),
  Cordoned: (_, object) => unless((object as Node).spec?.unschedulable === true, 'it is not cordoned'),
  Tainted: (_, object) => unless(((object as Node).spec?.taints ?? []).length > 0, 'it is not tainted'),
  DrainBlocked: ({ because }, object, world) => {
    const [, namespace = '', name = '', budgetName = ''] =
      /pod (\S+)\/(\S+) may not be evicted: poddisruptionbudget\/(\S+) /.exec(because) ?? []
    const pod = podNamed(world, namespace, name)
    const budget = world.view.find('PodDisruptionBudget', namespace, budgetName) as PodDisruptionBudget | undefined
    if (pod?.spec.nodeName !== object.metadata.name) return 'that pod is not on it'
    const isGuarded = selectorFromLabelSelector(budget?.spec?.selector).matches(pod?.metadata.labels ?? {})
    return unless(isGuarded && (budget?.status?.disruptionsAllowed ?? 0) <= 0, 'that budget allows it')
  },
  ContentHeldByFinalizers: says('NamespaceFinalizersRemaining', 'True'),
  ContentRemains: says('NamespaceContentRemaining', 'True'),
  ContentDeletionFailed: says('NamespaceDeletionContentFailure', 'True'),
  SyncFailed: says('DisruptionAllowed', 'False', 'SyncFailed'),
  QuotaUsedUp: ({ because }, object) => {
    const { hard = {}, used = {} } = (object as ResourceQuota).status ?? {}
    const told = [...because.matchAll(/([^\s,]+): (\S+) of ([^\s,]+)/g)]
    const isSo = told.every(([, name = '', some, most]) => used[name] === some && hard[name] === most)
    return unless(told.length > 0 && isSo, 'its status says otherwise')
  },
}
