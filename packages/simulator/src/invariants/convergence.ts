import {
  type EndpointSlice,
  isJobFinished,
  type Job,
  type KubernetesObject,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type Service,
  type StatefulSet,
  selectorFromLabelSelector,
} from '@coracle/api'
import { workloadKinds } from '../kinds.ts'
import { controllerOf, hasEnded, type Invariant, isActive, isReady, labelOf, type View } from '../view.ts'
import { isHeldUp, isHeldUpBefore } from './held-up.ts'
import { ordinalOf } from './pods.ts'

/** How everything has to be in the end, when nothing fails, nobody asks for anything and time has passed. */
export const convergenceInvariants: readonly Invariant[] = [
  { name: 'in the end every workload is as it was asked to be', finally: workloadProblems },
  { name: 'in the end every pod is of the version that was asked for', finally: outdatedPods },
  { name: 'in the end every Job is over or runs', finally: jobProblems },
  { name: 'in the end every pod runs on a node or has ended', finally: podProblems },
  { name: 'in the end every node is well', finally: nodeProblems },
  { name: 'in the end a service has the pods that are ready', finally: serviceProblems },
  { name: 'in the end nothing is on its way out', finally: going },
]

interface Workload extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: PodSpec } }
  readonly status?: Readonly<Record<string, number | undefined>>
}

const workloads = (view: View): readonly Workload[] => workloadKinds.flatMap((kind) => view.list<Workload>(kind))

/** The counts that each kind's status ends with, by what was asked for. */
function workloadProblems(view: View): readonly string[] {
  return workloads(view).flatMap((workload) =>
    problemsOf(workload, view).map((problem) => `${labelOf(workload)}: ${problem}`),
  )
}

function problemsOf(workload: Workload, view: View): readonly string[] {
  const { kind, metadata, spec, status = {} } = workload
  const wrongCounts = (wanted: number, fields: readonly string[]) =>
    fields
      .filter((field) => (status[field] ?? 0) !== wanted)
      .map((field) => `status.${field} is ${status[field] ?? 0} and not ${wanted}`)
  const problems = [...wrongCounts(metadata.generation ?? 0, ['observedGeneration'])]
  const active = view.podsOf(metadata.uid ?? '').filter(isActive).length
  const desired = spec.replicas ?? 1
  switch (kind) {
    case 'DaemonSet': {
      const wanted = status.desiredNumberScheduled ?? 0
      problems.push(...wrongCounts(wanted, ['currentNumberScheduled', 'numberReady', 'numberAvailable']))
      if (active !== wanted) problems.push(`has ${active} pods for ${wanted} nodes`)
      const nodes = view.list('Node').length
      if (wanted !== nodes) problems.push(`wants pods on ${wanted} of ${nodes} nodes`)
      return problems
    }
    case 'Deployment':
      return [
        ...problems,
        ...wrongCounts(desired, ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas']),
        ...wrongCounts(0, ['unavailableReplicas']),
      ]
    case 'StatefulSet':
      if (isHeldUp(workload, view)) return []
      break
    default:
  }
  problems.push(...wrongCounts(desired, ['replicas', 'readyReplicas', 'availableReplicas']))
  if (active !== desired) problems.push(`has ${active} pods and wants ${desired}`)
  return problems
}

/** Whether something is tried again and again, and need not end: a set without a name for its pod, or a task that fails. */
export const triesForEver = (view: View): boolean =>
  view.list('StatefulSet').some((set) => isHeldUp(set, view)) || view.list<Pod>('Pod').some(failsForEver)

const imageOf = (spec: PodSpec): string | undefined => spec.containers[0]?.image

/** A rollout that is over has replaced every pod that it was to replace. */
function outdatedPods(view: View): readonly string[] {
  return workloads(view).flatMap((workload) => {
    const wanted = imageOf(workload.spec.template.spec)
    return replaceable(workload, view)
      .filter((pod) => isActive(pod) && imageOf(pod.spec) !== wanted)
      .map((pod) => `${labelOf(pod)} runs ${imageOf(pod.spec)}, and ${labelOf(workload)} wants ${wanted}`)
  })
}

/** The pods that a change of the template replaces. */
function replaceable(workload: Workload, view: View): readonly Pod[] {
  const { uid = '' } = workload.metadata
  switch (workload.kind) {
    case 'Deployment':
      return view
        .list('ReplicaSet')
        .filter((set) => controllerOf(set)?.uid === uid)
        .flatMap((set) => view.podsOf(set.metadata.uid ?? ''))
    case 'StatefulSet': {
      if (isHeldUp(workload, view)) return []
      const { updateStrategy } = (workload as unknown as StatefulSet).spec
      const { ordinals } = (workload as unknown as StatefulSet).spec
      const from =
        updateStrategy?.type === 'OnDelete'
          ? Number.POSITIVE_INFINITY
          : (ordinals?.start ?? 0) + (updateStrategy?.rollingUpdate?.partition ?? 0)
      return view.podsOf(uid).filter((pod) => ordinalOf(pod) >= from)
    }
    case 'DaemonSet': {
      const { updateStrategy } = workload.spec as { readonly updateStrategy?: { readonly type?: string } }
      return updateStrategy?.type === 'OnDelete' ? [] : view.podsOf(uid)
    }
    default:
      return []
  }
}

/** A Job that may run has as many pods as it may, one that is suspended or waits has none, and one that is over says so. */
function jobProblems(view: View): readonly string[] {
  return view.list<Job>('Job').flatMap((job) => {
    const { spec, status, metadata } = job
    const active = view.podsOf(metadata.uid ?? '').filter(isActive).length
    const problems: string[] = []
    if ((status?.active ?? 0) !== active)
      problems.push(`status.active is ${status?.active ?? 0}, and ${active} pods are`)
    const completions = spec.completions
    const isComplete = status?.conditions?.some(({ type, status: holds }) => type === 'Complete' && holds === 'True')
    const isEarly = status?.conditions?.some(({ reason }) => reason === 'SuccessPolicy') === true
    if (isComplete === true && !isEarly && completions !== undefined && status?.succeeded !== completions)
      problems.push(`is complete with ${status?.succeeded} of ${completions} completions`)
    const mayRun = spec.suspend !== true && !waits(job, view) && !isJobFinished(job) && (spec.parallelism ?? 1) > 0
    // All Jobs here end within minutes, so that whatever is still open has been forgotten.
    if (mayRun) problems.push(`is not over: ${JSON.stringify(status)}`)
    if ((spec.suspend === true || isJobFinished(job)) && active > 0)
      problems.push(`has ${active} pods, and should have none`)
    return problems.map((problem) => `${labelOf(job)}: ${problem}`)
  })
}

/** Whether a Job waits for another that will not end. */
function waits(job: Job, view: View): boolean {
  const names = job.metadata.annotations?.['coracle.dev/depends-on']?.split(',') ?? []
  return names.some((name) => {
    const other = view.find('Job', job.metadata.namespace, name.trim()) as Job | undefined
    return other === undefined || !isJobFinished(other)
  })
}

function podProblems(view: View): readonly string[] {
  return view
    .list<Pod>('Pod')
    .filter((pod) => !hasEnded(pod) && !(pod.status?.phase === 'Running' && isReady(pod)))
    .filter((pod) => !lacksItsClaim(pod, view) && !failsForEver(pod))
    .map((pod) => `${labelOf(pod)} is ${pod.status?.phase} on ${pod.spec.nodeName ?? 'no node'}`)
}

/** A pod of a failing task that its Job has left behind is tried again and again: nobody counts its failures any more. */
const failsForEver = (pod: Pod): boolean =>
  controllerOf(pod) === undefined &&
  pod.spec.restartPolicy === 'OnFailure' &&
  !hasEnded(pod) &&
  pod.status?.containerStatuses?.some(
    ({ restartCount, state }) => restartCount > 0 || state?.waiting?.reason === 'CrashLoopBackOff',
  ) === true

/** A pod whose claim nobody makes again. */
const lacksItsClaim = (pod: Pod, view: View): boolean =>
  isLeftAlone(pod, view) &&
  pod.spec.volumes?.some(({ persistentVolumeClaim: of }) => {
    const claim = of && view.find('PersistentVolumeClaim', pod.metadata.namespace, of.claimName)
    return of !== undefined && (claim === undefined || claim.metadata.deletionTimestamp !== undefined)
  }) === true

/** A pod that was taken aside, as its claims went with the set that had made them all, or one that its set does not get to. */
function isLeftAlone(pod: Pod, view: View): boolean {
  const owner = controllerOf(pod)
  const set = view.byUid(owner?.uid ?? '')
  return owner === undefined || (set?.kind === 'StatefulSet' && isHeldUpBefore(pod, set as StatefulSet, view))
}

function nodeProblems(view: View): readonly string[] {
  return view.list<Node>('Node').flatMap((node) => {
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status
    const taints = node.spec?.taints ?? []
    return [
      ...(ready === 'True' ? [] : [`${labelOf(node)} is ready: ${ready}`]),
      ...(taints.length === 0 ? [] : [`${labelOf(node)} is tainted: ${taints.map(({ key }) => key).join(', ')}`]),
    ]
  })
}

/** What a service sends traffic to. */
function serviceProblems(view: View): readonly string[] {
  const slices = [...view.all()].filter(({ kind }) => kind === 'EndpointSlice') as unknown as readonly EndpointSlice[]
  return view
    .list<Service>('Service')
    .filter(({ spec }) => spec.selector !== undefined)
    .flatMap((service) => {
      const { namespace, name } = service.metadata
      const selector = selectorFromLabelSelector({ matchLabels: service.spec.selector ?? {} })
      const wanted = view
        .list<Pod>('Pod')
        .filter(({ metadata }) => metadata.namespace === namespace && selector.matches(metadata.labels))
        .filter((pod) => isActive(pod) && isReady(pod))
        .map(({ status }) => status?.podIP ?? '')
      const told = slices
        .filter(({ metadata }) => metadata.namespace === namespace)
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
        .flatMap(({ endpoints }) => endpoints ?? [])
        .filter(({ conditions }) => conditions?.ready !== false)
        .flatMap(({ addresses }) => addresses)
      const [read, written] = [[...told].sort().join(' '), [...wanted].sort().join(' ')]
      return read === written
        ? []
        : [`${labelOf(service)} has ${read || 'nothing'}, and ready are ${written || 'none'}`]
    })
}

/**
 * Whether a suspended Job holds the pod: one with a limit for each index counts an index's failures on its last pod, which keeps
 * its finalizer until the next pod of the index is there.
 */
function isKeptForItsSuccessor(object: KubernetesObject, view: View): boolean {
  const job = view.byUid(controllerOf(object)?.uid ?? '') as Job | undefined
  return (
    job?.kind === 'Job' &&
    job.spec.suspend === true &&
    job.spec.backoffLimitPerIndex !== undefined &&
    object.metadata.finalizers?.includes('batch.kubernetes.io/job-tracking') === true
  )
}

/** A claim that is to go stays as long as a pod uses it, and a volume as long as a claim is bound to it. */
export function isKeptByItsUser({ kind, metadata }: KubernetesObject, view: View): boolean {
  if (kind === 'PersistentVolume')
    return view
      .list<PersistentVolumeClaim>('PersistentVolumeClaim')
      .some(({ spec }) => spec?.volumeName === metadata.name)
  return (
    kind === 'PersistentVolumeClaim' &&
    view
      .list<Pod>('Pod')
      .some(
        (pod) =>
          pod.metadata.namespace === metadata.namespace &&
          pod.spec.volumes?.some(({ persistentVolumeClaim: of }) => of?.claimName === metadata.name) === true,
      )
  )
}

/** An owner that is deleted in the foreground waits for a claim that is kept: a pod that was taken aside goes on using its own. */
const isKeptByOwned = ({ metadata }: KubernetesObject, view: View): boolean =>
  metadata.finalizers?.includes('foregroundDeletion') === true &&
  view
    .list('PersistentVolumeClaim')
    .filter((claim) => claim.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
    .some((claim) => isKeptByItsUser(claim, view))

function going(view: View): readonly string[] {
  const all = [...view.all()]
  const present: ReadonlySet<string | undefined> = new Set(view.list('Namespace').map(({ metadata }) => metadata.name))
  const lost = all.filter(({ metadata }) => metadata.namespace !== undefined && !present.has(metadata.namespace))
  return [
    ...all
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .filter(
        (each) => !isKeptForItsSuccessor(each, view) && !isKeptByItsUser(each, view) && !isKeptByOwned(each, view),
      )
      .map((each) => `${labelOf(each)} is still going`),
    ...lost.map((each) => `${labelOf(each)} is in a namespace that is gone`),
  ]
}
