import type { DaemonSet, Deployment, KubernetesObject, StatefulSet } from '@coracle/api'
import { shareOf } from '../share-of.ts'

/** What a workload asks for, and how many of that may be missing while it is updated. */
export interface Promised {
  readonly desired: number
  readonly mayBeMissing: number
  /** For people: `maxUnavailable 25%`. */
  readonly by: string
}

/** The kinds that keep pods ready. */
export const workloadKinds: ReadonlySet<string> = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'ReplicationController',
])

/** What a workload promises; undefined for kinds that keep no pods ready. */
export function promiseOf(object: KubernetesObject): Promised | undefined {
  switch (object.kind) {
    case 'Deployment':
      return deploymentPromise(object as Deployment)
    case 'StatefulSet':
      return statefulSetPromise(object as StatefulSet)
    case 'DaemonSet':
      return daemonSetPromise(object as DaemonSet)
    case 'ReplicaSet':
    case 'ReplicationController': {
      const desired = (object as KubernetesObject & { spec?: { replicas?: number } }).spec?.replicas ?? 1
      return { desired, mayBeMissing: desired, by: 'nothing' }
    }
    default:
      return undefined
  }
}

function deploymentPromise({ spec }: Deployment): Promised {
  const desired = spec.replicas ?? 1
  if (spec.strategy?.type === 'Recreate') return { desired, mayBeMissing: desired, by: 'Recreate' }
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {}
  const missing = shareOf(maxUnavailable, desired, Math.floor)
  // Should both come to nothing, one may be missing: else nothing would move.
  const isStuck = missing === 0 && shareOf(maxSurge, desired, Math.ceil) === 0
  return { desired, mayBeMissing: isStuck ? 1 : Math.min(missing, desired), by: `maxUnavailable ${maxUnavailable}` }
}

function statefulSetPromise({ spec }: StatefulSet): Promised {
  return { desired: spec.replicas ?? 1, mayBeMissing: 1, by: 'maxUnavailable 1' }
}

function daemonSetPromise({ spec, status }: DaemonSet): Promised {
  const desired = status?.desiredNumberScheduled ?? 0
  const { maxSurge = 0, maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {}
  const missing = shareOf(maxUnavailable, desired, Math.ceil)
  const isStuck = missing === 0 && shareOf(maxSurge, desired, Math.ceil) === 0
  return { desired, mayBeMissing: isStuck ? 1 : missing, by: `maxUnavailable ${maxUnavailable}` }
}
