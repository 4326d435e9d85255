import {
  type DaemonSet,
  type Deployment,
  daemonSets,
  deployments,
  type KubernetesObject,
  type ReplicaSet,
  type ReplicationController,
  type Resource,
  replicaSets,
  replicationControllers,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'

/** The kinds of objects that keep pods. */
export const workloadKinds = ['ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet'] as const
export type WorkloadKind = (typeof workloadKinds)[number]

export type Workload = ReplicationController | ReplicaSet | Deployment | StatefulSet | DaemonSet

export const workloadResources: Readonly<Record<WorkloadKind, Resource<Workload>>> = {
  ReplicationController: replicationControllers as unknown as Resource<Workload>,
  ReplicaSet: replicaSets as unknown as Resource<Workload>,
  Deployment: deployments as unknown as Resource<Workload>,
  StatefulSet: statefulSets as unknown as Resource<Workload>,
  DaemonSet: daemonSets as unknown as Resource<Workload>,
}

/** What is asked of a new workload. */
export interface WorkloadShape {
  readonly kind: WorkloadKind
  readonly name: string
  readonly replicas: number
  readonly image: string
  /** What depends on the kind: a strategy, a way of ordering. */
  readonly options: Readonly<Record<string, unknown>>
}

/** The namespace in which everything happens. */
export const namespace = 'default'

/** The object for a shape. The pods of a workload carry its name as the label `app`. */
export function workloadOf({ kind, name, replicas, image, options }: WorkloadShape): Workload {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } }
  const selector = kind === 'ReplicationController' ? labels : { matchLabels: labels }
  const spec = { ...(kind === 'DaemonSet' ? {} : { replicas }), selector, template, ...options }
  const apiVersion = kind === 'ReplicationController' ? 'v1' : 'apps/v1'
  return { apiVersion, kind, metadata: { name, namespace }, spec } as unknown as Workload
}

/** How many pods a workload asks for; undefined where the nodes decide. */
export function desiredReplicas(object: KubernetesObject): number | undefined {
  if (object.kind === 'DaemonSet') return undefined
  return (object as ReplicaSet).spec.replicas ?? 1
}
