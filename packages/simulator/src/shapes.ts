import type { KubernetesObject } from '@coracle/api'
import type { Draw } from './draw.ts'
import { type Kind, namespaceNames, workloadKinds } from './kinds.ts'
import type { Target } from './operation.ts'

/** Pods of one workload, fewer than this. */
export const replicasLimit = 6
const images = ['example/web:1', 'example/web:2', 'example/web:3']

export const imageOf = (draw: Draw): string => draw.of(images)

/** A finalizer that only an operation takes off. */
export const holdFinalizer = 'example.dev/hold'

/** The kinds that scenarios are about. Those that keep pods come up more often. */
const shapeKinds: readonly Kind[] = [...workloadKinds, ...workloadKinds, 'Deployment', 'Job', 'Job', 'CronJob']

export const kindOf = (draw: Draw): Kind => draw.of(shapeKinds)

/** An object of a kind, drawn. The pods of a workload carry its name as the label `app`. */
export function shapeOf(draw: Draw, kind: Kind, name: string, namespace: string): KubernetesObject {
  switch (kind) {
    case 'Job':
      return object('batch/v1', kind, name, namespace, jobSpec(draw))
    case 'CronJob':
      return object('batch/v1', kind, name, namespace, cronJobSpec(draw))
    case 'ReplicationController': {
      const labels = { app: name }
      return object('v1', kind, name, namespace, {
        replicas: draw.below(replicasLimit),
        selector: labels,
        template: template(draw, name),
      })
    }
    default: {
      const replicas = kind === 'DaemonSet' ? {} : { replicas: draw.below(replicasLimit) }
      const selector = { matchLabels: { app: name } }
      const spec = { ...replicas, selector, template: template(draw, name), ...optionsOf(draw, kind) }
      return object('apps/v1', kind, name, namespace, spec)
    }
  }
}

/** A Job that waits for others. */
export function waitingJob(draw: Draw, name: string, namespace: string, others: readonly string[]): KubernetesObject {
  const job = shapeOf(draw, 'Job', name, namespace)
  const annotations = { 'coracle.dev/depends-on': others.join(',') }
  return { ...job, metadata: { ...job.metadata, annotations } }
}

export function budgetShape(draw: Draw, app: string, namespace: string): KubernetesObject {
  const share = draw.of<object>([
    { minAvailable: 1 },
    { minAvailable: 2 },
    { maxUnavailable: 1 },
    { maxUnavailable: '50%' },
    { minAvailable: '60%' },
  ])
  const selector = { matchLabels: { app } }
  return object('policy/v1', 'PodDisruptionBudget', `${app}-budget`, namespace, { selector, ...share })
}

export const quotaShape = (pods: number, namespace: string): KubernetesObject =>
  quotaNamed('quota', namespace, { pods: String(pods) })

export const quotaNamed = (name: string, namespace: string, hard: Readonly<Record<string, string>>): KubernetesObject =>
  object('v1', 'ResourceQuota', name, namespace, { hard })

export const serviceShape = (app: string, namespace: string): KubernetesObject =>
  object('v1', 'Service', `${app}-service`, namespace, { selector: { app }, ports: [{ port: 80 }] })

/** An autoscaler of a workload by the memory that its pods use on average: what they use at first counts at once, unlike CPU. */
export function autoscalerShape(draw: Draw, { kind, name, namespace = '' }: Target): KubernetesObject {
  const apiVersion = kind === 'ReplicationController' ? 'v1' : 'apps/v1'
  const stabilizationWindowSeconds = draw.of([0, 60, 300])
  return object('autoscaling/v2', 'HorizontalPodAutoscaler', `${name}-scaler`, namespace, {
    scaleTargetRef: { apiVersion, kind, name },
    ...autoscalerBounds(draw),
    metrics: [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
    ],
    ...(draw.chance(0.5) ? {} : { behavior: { scaleDown: { stabilizationWindowSeconds } } }),
  })
}

export function autoscalerBounds(draw: Draw): { readonly minReplicas: number; readonly maxReplicas: number } {
  const minReplicas = 1 + draw.below(3)
  return { minReplicas, maxReplicas: minReplicas + draw.below(4) }
}

/** The class of volumes that people make by hand. */
export const manualClass = 'manual'

/** A volume that somebody made. */
export const volumeShape = (draw: Draw, name: string): KubernetesObject => {
  const spec = {
    capacity: { storage: draw.of(['1Gi', '2Gi', '5Gi']) },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: manualClass,
    hostPath: { path: `/volumes/${name}` },
  }
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec } as KubernetesObject
}

/** A claim to one of those. */
export const claimShape = (draw: Draw, name: string, namespace: string): KubernetesObject =>
  object('v1', 'PersistentVolumeClaim', name, namespace, {
    ...claimSpec(draw.of(['1Gi', '2Gi', '5Gi'])),
    storageClassName: manualClass,
  })

const claimSpec = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } })

/** What becomes of the claims of a stateful set. */
export interface ClaimPolicy {
  readonly whenDeleted: 'Retain' | 'Delete'
  readonly whenScaled: 'Retain' | 'Delete'
}

/** A stateful set each of whose pods has a claim of the default class. */
export function withClaims(set: KubernetesObject, policy: ClaimPolicy): KubernetesObject {
  const { spec } = set as KubernetesObject & {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[] } } }
  }
  const { template } = spec
  const volumeMounts = [{ name: 'data', mountPath: 'data' }]
  const containers = template.spec.containers.map((container) => ({ ...container, volumeMounts }))
  const changed = {
    ...spec,
    template: { ...template, spec: { ...template.spec, containers } },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec('1Gi') }],
    persistentVolumeClaimRetentionPolicy: policy,
  }
  return { ...set, spec: changed } as KubernetesObject
}

export const namespaceShape = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})

/** A custom object, which may be held back from going. */
export function gadgetShape(draw: Draw, name: string, namespace: string): KubernetesObject {
  const finalizers = draw.chance(0.4) ? { finalizers: [holdFinalizer] } : {}
  const metadata = { name, namespace, ...finalizers }
  return { apiVersion: 'example.dev/v1', kind: 'Gadget', metadata, spec: { size: draw.below(3) } } as KubernetesObject
}

export const configShape = (name: string, namespace: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
})

export const namespaceOf = (draw: Draw): string => (draw.chance(0.75) ? namespaceNames[0] : namespaceNames[1])

function object(apiVersion: string, kind: Kind, name: string, namespace: string, spec: object): KubernetesObject {
  return { apiVersion, kind, metadata: { name, namespace }, spec } as KubernetesObject
}

function template(draw: Draw, app: string): object {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image: imageOf(draw) }] } }
}

/** Pods that end within seconds, most of them well. */
function endingTemplate(draw: Draw): object {
  const env = [
    { name: 'SIMULATED_RUN', value: draw.of(['0s', '3s', '15s', '40s']) },
    { name: 'SIMULATED_EXIT_CODE', value: draw.of(['0', '0', '0,0,1', '0,1', '1']) },
  ]
  const restartPolicy = draw.chance(0.7) ? 'Never' : 'OnFailure'
  return { spec: { restartPolicy, containers: [{ name: 'main', image: imageOf(draw), env }] } }
}

function jobSpec(draw: Draw): object {
  const isIndexed = draw.chance(0.5)
  const completions = 1 + draw.below(replicasLimit)
  return {
    parallelism: 1 + draw.below(3),
    completions,
    backoffLimit: draw.below(4),
    ...(isIndexed ? { completionMode: 'Indexed' } : {}),
    ...(isIndexed && draw.chance(0.3) ? { backoffLimitPerIndex: 1, maxFailedIndexes: 2 } : {}),
    ...(draw.chance(0.2) ? { suspend: true } : {}),
    ...(draw.chance(0.2) ? { ttlSecondsAfterFinished: draw.below(60) } : {}),
    ...(draw.chance(0.2) ? { activeDeadlineSeconds: 20 + draw.below(60) } : {}),
    ...(draw.chance(0.2) ? { podReplacementPolicy: 'Failed' } : {}),
    template: endingTemplate(draw),
  }
}

function cronJobSpec(draw: Draw): object {
  return {
    schedule: draw.of(['* * * * *', '*/2 * * * *', '*/3 * * * *']),
    concurrencyPolicy: draw.of(['Allow', 'Forbid', 'Replace']),
    successfulJobsHistoryLimit: draw.below(4),
    failedJobsHistoryLimit: draw.below(2),
    ...(draw.chance(0.3) ? { startingDeadlineSeconds: 10 + draw.below(100) } : {}),
    jobTemplate: { spec: { ...jobSpec(draw), completions: 1, parallelism: 1, suspend: false } },
  }
}

function optionsOf(draw: Draw, kind: Kind): Readonly<Record<string, unknown>> {
  const minReadySeconds = draw.chance(0.3) ? { minReadySeconds: draw.below(15) } : {}
  switch (kind) {
    case 'Deployment':
      return {
        ...minReadySeconds,
        ...(draw.chance(0.3) ? { revisionHistoryLimit: draw.below(3) } : {}),
        strategy: draw.chance(0.2) ? { type: 'Recreate' } : { type: 'RollingUpdate', rollingUpdate: limits(draw) },
      }
    case 'StatefulSet':
      return {
        ...minReadySeconds,
        serviceName: 'web',
        podManagementPolicy: draw.of(['OrderedReady', 'Parallel']),
        updateStrategy: draw.chance(0.2)
          ? { type: 'OnDelete' }
          : { type: 'RollingUpdate', rollingUpdate: { partition: draw.below(2) } },
      }
    case 'DaemonSet':
      return {
        ...minReadySeconds,
        updateStrategy: draw.chance(0.2)
          ? { type: 'OnDelete' }
          : {
              type: 'RollingUpdate',
              rollingUpdate: draw.chance(0.5)
                ? { maxUnavailable: 0, maxSurge: 1 }
                : { maxUnavailable: 1 + draw.below(2), maxSurge: 0 },
            },
      }
    default:
      return minReadySeconds
  }
}

function limits(draw: Draw): { readonly maxSurge: number | string; readonly maxUnavailable: number | string } {
  const maxSurge = draw.of([0, 1, 2, '25%', '50%'])
  return { maxSurge, maxUnavailable: maxSurge === 0 ? draw.of([1, 2, '50%']) : draw.of([0, 1, '25%']) }
}
