import { formatTime, type Pod, type ReplicationController } from '@coracle/api'

/** Midnight at the start of 2026: where virtual clocks stand at first. */
export const startMs = 1_767_225_600_000

/** A time so many seconds before `startMs`, as the API writes it. */
export const secondsAgo = (seconds: number): string => formatTime(startMs - seconds * 1000)

export interface PodTraits {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly node?: string
  readonly phase?: string
  /** Seconds since it became ready; absent: it is not. */
  readonly readyFor?: number
  readonly restarts?: number
  readonly sidecarRestarts?: number
  /** Seconds since it was created. */
  readonly age?: number
  readonly controlledBy?: ReplicationController
  readonly isGoing?: boolean
}

/** A pod of namespace `default` whose UID is its name. */
export function pod(name: string, traits: PodTraits = {}): Pod {
  const {
    labels = { app: 'web' },
    annotations,
    node,
    phase = 'Running',
    readyFor,
    restarts,
    sidecarRestarts,
    age,
  } = traits
  const ready = {
    type: 'Ready',
    status: readyFor === undefined ? 'False' : 'True',
    lastTransitionTime: secondsAgo(readyFor ?? 0),
  }
  const container = (restartCount: number) => ({ name: 'web', image: 'web', imageID: '', ready: true, restartCount })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name,
      uid: name,
      resourceVersion: '1',
      labels,
      annotations,
      creationTimestamp: secondsAgo(age ?? 60),
      ownerReferences: traits.controlledBy === undefined ? undefined : [ownedBy(traits.controlledBy)],
      deletionTimestamp: traits.isGoing === true ? secondsAgo(0) : undefined,
    },
    spec: {
      containers: [{ name: 'web', image: 'web' }],
      initContainers:
        sidecarRestarts === undefined ? undefined : [{ name: 'web', image: 'proxy', restartPolicy: 'Always' }],
      nodeName: node,
    },
    status: {
      phase,
      conditions: [ready],
      containerStatuses: restarts === undefined ? undefined : [container(restarts)],
      initContainerStatuses: sidecarRestarts === undefined ? undefined : [container(sidecarRestarts)],
    },
  } as Pod
}

/** The reference by which a replication controller controls a pod. */
export function ownedBy({ metadata }: ReplicationController) {
  const { name = '', uid = '' } = metadata
  return { apiVersion: 'v1', kind: 'ReplicationController', name, uid, controller: true, blockOwnerDeletion: true }
}

/** A replication controller `web` over pods labelled `app=web`. */
export function replicationController(
  replicas: number,
  parts: Partial<ReplicationController['spec']> & { readonly isGoing?: boolean } = {},
): ReplicationController {
  const { isGoing, ...spec } = parts
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: {
      namespace: 'default',
      name: 'web',
      uid: 'rc',
      generation: 1,
      deletionTimestamp: isGoing === true ? secondsAgo(0) : undefined,
    },
    spec: {
      replicas,
      selector: { app: 'web' },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web' }] },
      } as ReplicationController['spec']['template'],
      ...spec,
    },
    status: { replicas: 0 },
  }
}
