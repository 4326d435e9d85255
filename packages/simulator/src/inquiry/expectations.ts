import {
  isJobFinished,
  type Job,
  type KubernetesObject,
  type Node,
  type Pod,
  type Service,
  selectorFromLabelSelector,
} from '@coracle/api'
import { controllerOf, hasEnded, isReady, type View } from '../view.ts'
import { podsOf } from './oracle.ts'

interface Replicated extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly paused?: boolean; readonly suspend?: boolean }
  readonly status?: Readonly<Record<string, number | undefined>>
}

/** What an object lacks to be called fine, told by the pods that there are; undefined where it lacks nothing, or nobody knows. */
export function isLacking(object: KubernetesObject, view: View): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return undefined
  const { spec, status } = object as Replicated
  const wanted = spec?.replicas ?? 1
  switch (object.kind) {
    case 'Pod':
      return isReady(object as Pod) || (object as Pod).status?.phase === 'Succeeded' ? undefined : 'it is not ready'
    case 'ReplicaSet':
    case 'ReplicationController':
    case 'StatefulSet': {
      const ready = podsOf(object, view).filter(isReady).length
      return ready >= wanted ? undefined : `${ready} of ${wanted} pods are ready`
    }
    case 'Deployment':
      return (status?.availableReplicas ?? 0) >= wanted
        ? undefined
        : `${status?.availableReplicas ?? 0} of ${wanted} are available`
    case 'Job':
      return isJobFinished(object as Job) ? undefined : 'it is not over'
    case 'Node':
      return isNodeReady(object as Node) ? undefined : 'it is not ready'
    case 'Service': {
      const { selector } = (object as Service).spec ?? {}
      if (selector === undefined) return undefined
      const matcher = selectorFromLabelSelector({ matchLabels: selector })
      const own = view
        .list<Pod>('Pod')
        .filter(
          ({ metadata }) => metadata.namespace === object.metadata.namespace && matcher.matches(metadata.labels ?? {}),
        )
      return own.some((pod) => isReady(pod) && !hasEnded(pod)) ? undefined : 'none of its pods is ready'
    }
    default:
      return undefined
  }
}

const isNodeReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true

/** Whether an object is just as it is asked to be: then nothing holds it up. */
export function isAsAsked(object: KubernetesObject, view: View): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false
  switch (object.kind) {
    case 'Pod': {
      const pod = object as Pod
      const node = view.find('Node', undefined, pod.spec.nodeName ?? '') as Node | undefined
      return isReady(pod) && !hasEnded(pod) && node !== undefined && isNodeReady(node)
    }
    case 'Deployment':
      return saysSo(object as Replicated, [...deploymentCounts, ...replicaCounts]) && hasAll(object as Replicated, view)
    case 'ReplicaSet':
    case 'ReplicationController':
      return saysSo(object as Replicated, replicaCounts) && hasAll(object as Replicated, view)
    case 'Job':
      return isComplete(object as Job)
    case 'Node':
      return isNodeReady(object as Node) && (object as Node).spec?.unschedulable !== true
    default:
      return false
  }
}

const isComplete = ({ status }: Job): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Complete' && holds === 'True') === true

const replicaCounts = ['replicas', 'readyReplicas', 'availableReplicas']
const deploymentCounts = ['updatedReplicas']

/** Whether a status is of what is asked for now, and says that it is there. */
const saysSo = ({ metadata, spec, status }: Replicated, counts: readonly string[]): boolean =>
  status?.observedGeneration === metadata.generation &&
  counts.every((count) => (status?.[count] ?? 0) === (spec.replicas ?? 1))

/** Whether a workload has as many pods as it is to have, and all of them are well: a status may be of before. */
function hasAll(workload: Replicated, view: View): boolean {
  const sets = view.list('ReplicaSet').filter((set) => controllerOf(set)?.uid === workload.metadata.uid)
  const own = [workload, ...sets].flatMap((each) => podsOf(each, view))
  return own.length === (workload.spec.replicas ?? 1) && own.every((pod) => isAsAsked(pod, view))
}
