import type {
  DaemonSet,
  Deployment,
  Job,
  KubernetesObject,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '@coracle/api'

/** Whether something is still to come of an object: it is going, or its controller has not made it what it is asked to be. */
export function isUnderWay(object: KubernetesObject): boolean {
  const { kind, metadata } = object
  if (metadata.deletionTimestamp !== undefined) return true
  switch (kind) {
    case 'Deployment':
      return !isDeploymentDone(object as Deployment)
    case 'StatefulSet':
      return !isStatefulSetDone(object as StatefulSet)
    case 'DaemonSet':
      return !isDaemonSetDone(object as DaemonSet)
    case 'ReplicaSet':
    case 'ReplicationController':
      return !isReplicasDone(object as ReplicaSet | ReplicationController)
    case 'Job':
      return isJobRunning(object as Job)
    case 'Pod':
      return isStarting(object as Pod)
    default:
      return false
  }
}

/** Whether the controller of an object has seen it as it is. */
const isSeen = ({
  metadata,
  status,
}: Deployment | StatefulSet | DaemonSet | ReplicaSet | ReplicationController): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)

function isDeploymentDone(deployment: Deployment): boolean {
  const { spec, status = {} } = deployment
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status
  const wanted = spec.replicas ?? 1
  if (!isSeen(deployment)) return false
  if (spec.paused === true) return replicas === wanted && availableReplicas >= wanted
  return updatedReplicas === wanted && replicas === wanted && availableReplicas >= wanted
}

function isStatefulSetDone(set: StatefulSet): boolean {
  const { spec, status } = set
  const wanted = spec.replicas ?? 1
  const { currentRevision, updateRevision, readyReplicas = 0, replicas = 0, updatedReplicas = 0 } = status ?? {}
  if (!isSeen(set) || replicas !== wanted || readyReplicas < wanted) return false
  if (spec.updateStrategy?.type === 'OnDelete' || currentRevision === updateRevision) return true
  return updatedReplicas >= wanted - (spec.updateStrategy?.rollingUpdate?.partition ?? 0)
}

function isDaemonSetDone(set: DaemonSet): boolean {
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = set.status ?? {}
  const isUpdated = set.spec.updateStrategy?.type === 'OnDelete' || updatedNumberScheduled >= desiredNumberScheduled
  return isSeen(set) && isUpdated && numberAvailable >= desiredNumberScheduled
}

function isReplicasDone(set: ReplicaSet | ReplicationController): boolean {
  const { replicas = 0, availableReplicas = 0 } = set.status ?? {}
  const wanted = set.spec?.replicas ?? 1
  return isSeen(set) && replicas === wanted && availableReplicas >= wanted
}

function isJobRunning({ spec, status }: Job): boolean {
  if (spec.suspend === true) return false
  return (
    status?.conditions?.some(
      ({ type, status: holds }) => (type === 'Complete' || type === 'Failed') && holds === 'True',
    ) !== true
  )
}

/** Whether a pod has yet to come to what it will be: ready, or at its end. */
function isStarting({ status }: Pod): boolean {
  const { phase, conditions = [] } = status ?? {}
  if (phase === 'Succeeded' || phase === 'Failed') return false
  return !conditions.some(({ type, status: holds }) => type === 'Ready' && holds === 'True')
}
