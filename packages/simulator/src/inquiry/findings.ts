import {
  type CronJob,
  type DaemonSet,
  type Deployment,
  type EndpointSlice,
  isJobFinished,
  type Job,
  type KubernetesObject,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  type Service,
  type StatefulSet,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Explanation, Finding } from '@coracle/why'
import { hasEnded, isReady, type View } from '../view.ts'
import { isAsAsked, isLacking } from './expectations.ts'
import type { WriteLog } from './write-log.ts'

/** Says what is false in a finding, from the objects as they are stored. */
type Oracle = (finding: Finding, object: KubernetesObject, world: World) => string | undefined

export interface World {
  readonly view: View
  readonly log: WriteLog
}

/** What is wrong with what an explanation says of how things are, held against how they are. */
export function falseFindings({ object, findings, verdict }: Explanation, world: World): readonly string[] {
  const { view } = world
  const current = view.byUid(object.uid ?? '')
  if (verdict === 'gone') return current === undefined ? [] : ['it is told to be gone, and is there']
  if (current === undefined) return ['it is told to be there, and is not']
  const problems = findings.flatMap((finding) => {
    const problem = falseFinding(finding, world)
    return problem === undefined
      ? []
      : [`${finding.reason} of ${finding.object.kind} ${finding.object.name}: ${problem}; told: ${finding.because}`]
  })
  const holds = findings.filter(({ state, reason }) => state !== 'hint' && !independent.has(reason))
  if (verdict === 'fine' && isLacking(current, view))
    problems.push(`it is told to be fine: ${isLacking(current, view)}`)
  if (holds.length > 0 && isAsAsked(current, view))
    problems.push(`it is as it is to be, and told to be ${verdict}: ${holds.map(({ reason }) => reason).join(', ')}`)
  return problems
}

/** What may be so whatever else an object is like. */
const independent: ReadonlySet<string> = new Set(['ManagersContend', 'NotObserved'])

function falseFinding(finding: Finding, world: World): string | undefined {
  const object = world.view.byUid(finding.object.uid ?? '')
  if (object === undefined) return 'there is no such object'
  const { kind, metadata } = object
  if (kind !== finding.object.kind || metadata.name !== finding.object.name) return `it is ${kind} ${metadata.name}`
  const oracle = oracles[finding.reason]
  if (oracle === undefined) return 'nobody here knows whether that is true'
  return oracle(finding, object, world)
}

// --- What is to be seen of an object -----------------------------------------------------------------------------------

interface Conditioned {
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
  }
}

const conditionOf = (object: KubernetesObject, type: string) =>
  (object as Conditioned).status?.conditions?.find((condition) => condition.type === type)

/** True where the condition is as given, and its words are told. */
const says =
  (type: string, status: string, reason?: string): Oracle =>
  ({ because }, object) => {
    const condition = conditionOf(object, type)
    if (condition?.status !== status) return `condition ${type} is ${condition?.status ?? 'not there'}`
    if (reason !== undefined && condition.reason !== reason)
      return `condition ${type} has the reason ${condition.reason}`
    const words = condition.message || condition.reason || ''
    return because.includes(words) ? undefined : `condition ${type} says: ${words}`
  }

const unless = (holds: boolean, problem: string): string | undefined => (holds ? undefined : problem)

const ofPod =
  (check: (pod: Pod, finding: Finding, world: World) => string | undefined): Oracle =>
  (finding, object, world) =>
    check(object as Pod, finding, world)

const unassigned = ofPod((pod, finding, world) => {
  if ((pod.spec.nodeName ?? '') !== '') return `it is on ${pod.spec.nodeName}`
  return says('PodScheduled', 'False')(finding, pod, world) ?? falseAdvice(finding, world)
})

/** A taint that is to be taken away is there, and so is a node that is to be uncordoned. */
function falseAdvice({ remedy }: Finding, { view }: World): string | undefined {
  const named = /`coracle taint nodes (\S+) (\S+)-`/.exec(remedy)
  const node = view.find('Node', undefined, named?.[1] ?? '') as Node | undefined
  const taints = (node?.spec?.taints ?? []).map(
    ({ key, value = '', effect }) => `${key}${value && `=${value}`}:${effect}`,
  )
  if (named !== null && !taints.includes(named[2] ?? '')) return `node ${named[1]} is not tainted ${named[2]}`
  const cordoned = /`coracle uncordon (\S+)`/.exec(remedy)?.[1]
  const wanted = view.find('Node', undefined, cordoned ?? '') as Node | undefined
  return cordoned === undefined || wanted?.spec?.unschedulable === true ? undefined : `node ${cordoned} is not cordoned`
}

const nodeOf = ({ spec }: Pod, { view }: World): Node | undefined =>
  view.find('Node', undefined, spec.nodeName ?? '') as Node | undefined

const onBadNode = ofPod((pod, _, world) => {
  const node = nodeOf(pod, world)
  return unless(node === undefined || conditionOf(node, 'Ready')?.status !== 'True', 'its node is ready')
})

const containersOf = ({ status }: Pod) => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]

const failedContainer = ofPod((pod, { because }) => {
  const codes = containersOf(pod).map(({ state }) => state?.terminated?.exitCode ?? 0)
  if (pod.status?.phase !== 'Failed') return `it is ${pod.status?.phase}`
  return unless(
    codes.some((code) => code !== 0 && because.includes(`exit code ${code}`)),
    `its exit codes are ${codes}`,
  )
})

const selected = (object: KubernetesObject, { view }: World): readonly Pod[] => {
  const { selector } = (object as Service).spec ?? {}
  const matcher = selectorFromLabelSelector({ matchLabels: selector ?? {} })
  return view
    .list<Pod>('Pod')
    .filter(
      ({ metadata }) => metadata.namespace === object.metadata.namespace && matcher.matches(metadata.labels ?? {}),
    )
}

const selectsNone: Oracle = (_, object, world) =>
  unless(selected(object, world).every(hasEnded), 'there are pods that it selects')

const isGoing = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined

const failedJob: Oracle = ({ reason }, object) => {
  const condition = conditionOf(object, 'Failed') ?? conditionOf(object, 'FailureTarget')
  return unless(condition?.status === 'True' && condition.reason === reason, `it has not failed by ${reason}`)
}

/** The counts that are told are those of the pods that are there. */
const countsPods: Oracle = ({ what }, object, { view }) => {
  if (isGoing(object)) return 'it is being deleted'
  const told = /^(\d+) of (\d+) pods are ready/.exec(what)
  if (told === null) return undefined
  const ready = view.podsOf(object.metadata.uid ?? '').filter((pod) => !isGoing(pod) && isReady(pod)).length
  const wanted = (object as StatefulSet).spec.replicas ?? 1
  return unless(Number(told[1]) === ready && Number(told[2]) === wanted, `${ready} of ${wanted} are`)
}

/** An event about the object says what is told. */
const eventSays: Oracle = ({ because }, { metadata }, { log }) =>
  unless(
    log.eventsAbout(metadata.uid ?? '').some(({ message }) => message === because),
    'no event says so',
  )

/** Pods are refused: fewer are there than are to be, and an event or a condition quotes why. */
const refusal: Oracle = (finding, object, world) => {
  const { because } = finding
  const condition = conditionOf(object, 'ReplicaFailure')
  if (condition?.status === 'True')
    return unless(because === condition.message, `the condition says: ${condition.message}`)
  return eventSays(finding, object, world)
}

const jobNamed = (because: string, pattern: RegExp, object: KubernetesObject, { view }: World): Job | undefined =>
  view.find('Job', object.metadata.namespace, pattern.exec(because)?.[1] ?? '') as Job | undefined

const oracles: Readonly<Record<string, Oracle>> = {
  // Any object.
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

  // Pods.
  ...Object.fromEntries(
    [
      'InsufficientResources',
      'TooManyPods',
      'UntoleratedTaint',
      'NodeSelectorMismatch',
      'NodesCordoned',
      'PodAffinityMismatch',
      'PodAntiAffinityMismatch',
      'TopologySpreadMismatch',
      'NoNodes',
      'Unschedulable',
      'SchedulerError',
      'WaitsForPreemption',
    ].map((reason) => [reason, unassigned]),
  ),
  NotScheduledYet: ofPod((pod) =>
    unless((pod.spec.nodeName ?? '') === '' && conditionOf(pod, 'PodScheduled') === undefined, 'it was looked at'),
  ),
  SchedulerSilent: ofPod((pod) =>
    unless((pod.spec.nodeName ?? '') === '' && conditionOf(pod, 'PodScheduled') === undefined, 'it was looked at'),
  ),
  Ending: ofPod((pod, _, world) => {
    const node = nodeOf(pod, world)
    if (node === undefined || conditionOf(node, 'Ready')?.status !== 'True') return 'its node is not ready'
    return unless(isGoing(pod) && !hasEnded(pod), 'it is not being deleted, or has ended')
  }),
  EndingOverdue: ofPod((pod) => unless(isGoing(pod) && !hasEnded(pod), 'it is not being deleted, or has ended')),
  NodeLost: ofPod(
    (pod, finding, world) => unless(!isGoing(pod), 'it is being deleted') ?? onBadNode(finding, pod, world),
  ),
  NodeSilent: (finding, object, world) =>
    object.kind === 'Pod' ? onBadNode(finding, object, world) : says('Ready', 'Unknown')(finding, object, world),
  NotTakenOn: ofPod((pod) =>
    unless((pod.spec.nodeName ?? '') !== '' && pod.status?.startTime === undefined, 'its node has taken it on'),
  ),
  Initializing: ofPod((pod) =>
    unless(
      containersOf(pod).some(({ state }) => state?.running !== undefined),
      'nothing of it runs',
    ),
  ),
  NotReadyYet: ofPod((pod) => unless(pod.status?.phase === 'Running' && !isReady(pod), 'it does not run, or is ready')),
  Starting: ofPod((pod) => unless(!isReady(pod) && !hasEnded(pod), 'it is ready, or has ended')),
  CrashLoop: ofPod((pod, { because }) =>
    unless(
      containersOf(pod).some(
        ({ state, restartCount }) =>
          state?.waiting?.reason === 'CrashLoopBackOff' &&
          because.includes(restartCount === 1 ? 'restarted once' : `restarted ${restartCount} times`),
      ),
      'no container waits so',
    ),
  ),
  ContainerFailed: failedContainer,
  OutOfMemory: failedContainer,
  PodFailed: ofPod((pod) => unless(pod.status?.phase === 'Failed', 'it has not failed')),
  ...Object.fromEntries(
    ['Evicted', 'EvictedByTaint', 'Preempted', 'NodeGone', 'EvictedByNode', 'Disrupted'].map((reason) => [
      reason,
      ofPod((pod: Pod) => unless(conditionOf(pod, 'DisruptionTarget')?.status === 'True', 'it is not disrupted')),
    ]),
  ),

  // What makes pods.
  UnderWay: countsPods,
  ...Object.fromEntries(
    [
      'QuotaExceeded',
      'QuotaNeedsValues',
      'CreationRefused',
      'NamespaceTerminating',
      'TemplateInvalid',
      'DeletionRefused',
    ].map((reason) => [reason, refusal]),
  ),
  Paused: (_, object) =>
    unless((object as { readonly spec?: { readonly paused?: boolean } }).spec?.paused === true, 'it is not paused'),
  ReplicaSetRefused: says('Progressing', 'False', 'ReplicaSetCreateError'),
  ProgressDeadlineExceeded: says('Progressing', 'False', 'ProgressDeadlineExceeded'),
  MinReadySeconds: (_, object) => {
    const { spec, status } = object as Deployment
    return unless((status?.availableReplicas ?? 0) < (spec.replicas ?? 1), 'all are available')
  },
  WaitsForOrdinal: ({ because }, object, { view }) => {
    const pod = view.find('Pod', object.metadata.namespace, /pod (\S+) is/.exec(because)?.[1] ?? '') as Pod | undefined
    return unless(pod !== undefined && (isGoing(pod) || !isReady(pod)), 'that pod is ready, or not there')
  },
  HeldByPartition: outdated,
  UpdatedOnDelete: (finding, object, world) =>
    object.kind === 'DaemonSet' ? undefined : outdated(finding, object, world),
  NodesNotMatched: ({ because }, object, { view }) => {
    const wanted = (object as DaemonSet).spec.template.spec?.tolerations ?? []
    for (const [, name = '', taint = ''] of because.matchAll(/(\S+): it is tainted (\S+?)(?:;|$)/g)) {
      const node = view.find('Node', undefined, name) as Node | undefined
      const taints = (node?.spec?.taints ?? []).map(
        ({ key, value = '', effect }) => `${key}${value && `=${value}`}:${effect}`,
      )
      if (!taints.includes(taint)) return `node ${name} is not tainted ${taint}`
      if (wanted.some(({ key }) => taint.startsWith(`${key}`))) return `its pods tolerate ${taint}`
    }
    return undefined
  },

  // Jobs and CronJobs.
  Suspended: (_, object) => unless((object as Job).spec.suspend === true, 'it is not suspended'),
  WaitsForJob: ({ because }, object, world) => {
    const open = [...because.matchAll(/([a-z0-9-]+) \((?:running|suspended|not started|is being deleted)\)/g)]
    const isOver = open.every(([, name = '']) => {
      const other = world.view.find('Job', object.metadata.namespace, name) as Job | undefined
      return conditionOf(other ?? object, 'Complete')?.status === 'True' && !isGoing(other ?? object)
    })
    return unless(
      conditionOf(object, 'coracle.dev/Waiting')?.status === 'True' && !(isOver && open.length > 0),
      'those Jobs are complete',
    )
  },
  JobMissing: ({ remedy }, object, world) =>
    unless(jobNamed(remedy, /^create job\/([^,]+)/, object, world) === undefined, 'that Job is there'),
  BackingOff: ({ because }, object, { view }) => {
    const { failed = 0 } = (object as Job).status ?? {}
    const active = view.podsOf(object.metadata.uid ?? '').filter((pod) => !hasEnded(pod) && !isGoing(pod))
    if (active.length > 0) return `${active.length} of its pods run`
    return unless(because.startsWith(`${failed} of its pods have failed`), `${failed} have failed`)
  },
  ...Object.fromEntries(
    ['BackoffLimitExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy', 'DependencyFailed'].map(
      (reason) => [reason, failedJob],
    ),
  ),
  DeadlineExceeded: (finding, object, world) =>
    object.kind === 'Job'
      ? failedJob(finding, object, world)
      : unless((object as Pod).status?.phase === 'Failed', 'it has not failed'),
  JobAlreadyActive: ({ because }, object, world) => {
    const job = jobNamed(because, /job (\S+) is not over/, object, world)
    return unless(job !== undefined && !isJobFinished(job), 'that Job is over, or not there')
  },
  NotDueYet: (_, object) => unless((object as CronJob).spec.suspend !== true, 'it is suspended'),
  MissSchedule: eventSays,
  TooManyMissedTimes: eventSays,

  // Services and budgets.
  ScaledToZero: selectsNone,
  NoPods: selectsNone,
  SelectorMatchesNothing: (finding, object, world) =>
    object.kind === 'Service' ? selectsNone(finding, object, world) : undefined,
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
  BudgetAllowsNone: exhausted,
  BudgetExhausted: exhausted,

  // Nodes and namespaces.
  NodeNotReady: says('Ready', 'False'),
  NodeNeverReported: (_, object) => unless(conditionOf(object, 'Ready') === undefined, 'it has reported'),
  Cordoned: (_, object) => unless((object as Node).spec?.unschedulable === true, 'it is not cordoned'),
  Tainted: (_, object) => unless(((object as Node).spec?.taints ?? []).length > 0, 'it is not tainted'),
  DrainBlocked: ({ because }, object, { view }) => {
    const [, namespace = '', name = '', budgetName = ''] =
      /pod (\S+)\/(\S+) may not be evicted: poddisruptionbudget\/(\S+) /.exec(because) ?? []
    const pod = view.find('Pod', namespace, name) as Pod | undefined
    const budget = view.find('PodDisruptionBudget', namespace, budgetName) as PodDisruptionBudget | undefined
    if (pod?.spec.nodeName !== object.metadata.name) return 'that pod is not on it'
    const isGuarded = selectorFromLabelSelector(budget?.spec?.selector).matches(pod?.metadata.labels ?? {})
    return unless(isGuarded && (budget?.status?.disruptionsAllowed ?? 0) <= 0, 'that budget allows it')
  },
  ContentHeldByFinalizers: says('NamespaceFinalizersRemaining', 'True'),
  ContentRemains: says('NamespaceContentRemaining', 'True'),
  ContentDeletionFailed: says('NamespaceDeletionContentFailure', 'True'),
  SyncFailed: says('DisruptionAllowed', 'False', 'SyncFailed'),
  QuotaUsedUp: () => undefined,
}

function exhausted(_: Finding, object: KubernetesObject): string | undefined {
  return unless(((object as PodDisruptionBudget).status?.disruptionsAllowed ?? 0) <= 0, 'it allows a disruption')
}

/** Some of its pods are of an older revision. */
function outdated(_: Finding, object: KubernetesObject, { view }: World): string | undefined {
  const { status } = object as StatefulSet
  const own = view.podsOf(object.metadata.uid ?? '')
  const isOld = ({ metadata }: Pod) => metadata.labels?.['controller-revision-hash'] !== status?.updateRevision
  return unless(own.some(isOld) || own.length < (status?.replicas ?? 0), 'all of its pods are of the latest')
}
