import type { Deployment, DeploymentSpec, DeploymentStatus, PodTemplateSpec, ReplicaSet } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { secondsAgo } from './objects.ts'

/** The template of pods with this image. */
export function templateOf(image: string): PodTemplateSpec {
  return {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image }] },
  } as PodTemplateSpec
}

export interface DeploymentParts extends Partial<DeploymentSpec> {
  readonly annotations?: Readonly<Record<string, string>>
  readonly status?: DeploymentStatus
  readonly isGoing?: boolean
}

/** A deployment `web` of namespace `default`, of pods with the image `new`, as the server would give it. */
export function deployment(replicas: number, parts: DeploymentParts = {}): Deployment {
  const { annotations, status = {}, isGoing, ...spec } = parts
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'default',
      name: 'web',
      uid: 'deployment',
      resourceVersion: '1',
      generation: 1,
      annotations,
      deletionTimestamp: isGoing === true ? secondsAgo(0) : undefined,
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: templateOf('new'),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...spec,
    },
    status,
  } as Deployment
}

/** A strategy that replaces pods few at a time. */
export const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge, maxUnavailable } },
})

export interface ReplicaSetParts {
  readonly replicas?: number
  /** Pods that are available; as many as replicas unless said. */
  readonly available?: number
  /** Pods that there are; as many as replicas unless said. */
  readonly pods?: number
  /** The image of its pods; `new` is that of the deployment. */
  readonly image?: string
  readonly revision?: number
  readonly annotations?: Readonly<Record<string, string>>
  /** Seconds since it was made. */
  readonly age?: number
  readonly status?: Partial<ReplicaSet['status']>
}

/** A ReplicaSet that the deployment `web` controls. */
export function replicaSet(name: string, parts: ReplicaSetParts = {}): ReplicaSet {
  const { replicas = 0, available = replicas, pods = replicas, image = name, revision, age = 60 } = parts
  const revisions = revision === undefined ? {} : { 'deployment.kubernetes.io/revision': String(revision) }
  const labels = { app: 'web', 'pod-template-hash': name }
  const { spec } = templateOf(image)
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      namespace: 'default',
      name: `web-${name}`,
      uid: name,
      resourceVersion: '1',
      generation: 1,
      labels,
      annotations: { ...revisions, ...parts.annotations },
      creationTimestamp: secondsAgo(age),
      ownerReferences: [controllerRef(deployment(0))],
    },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    status: {
      replicas: pods,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
      ...parts.status,
    },
  } as ReplicaSet
}
