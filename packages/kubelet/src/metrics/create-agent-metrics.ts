import type { Pod } from '@coracle/api'
import { type Clock, createMetricsRegistry } from '@coracle/environment'
import type { ProbeKind } from '../probes/probe-runner.ts'
import type { AgentMetrics } from './agent-metrics.ts'
import { volumePlugin } from './volume-plugin.ts'

/** Seconds that pods take to start, in upstream's steps. */
const startBuckets = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
]
/** Those of volumes. */
const storageBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600]

/** Those of images, and how large these may be at most, by what upstream calls that. */
const pullBuckets = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600]
const mebi = 1024 * 1024
const imageSizes: readonly (readonly [bytesMax: number, label: string])[] = [
  [0, 'N/A'],
  [10 * mebi, '0-10MB'],
  [100 * mebi, '10MB-100MB'],
  [500 * mebi, '100MB-500MB'],
  [1024 * mebi, '500MB-1GB'],
  [5 * 1024 * mebi, '1GB-5GB'],
  [10 * 1024 * mebi, '5GB-10GB'],
  [20 * 1024 * mebi, '10GB-20GB'],
  [30 * 1024 * mebi, '20GB-30GB'],
  [40 * 1024 * mebi, '30GB-40GB'],
  [60 * 1024 * mebi, '40GB-60GB'],
  [100 * 1024 * mebi, '60GB-100GB'],
  [Number.POSITIVE_INFINITY, 'GT100GB'],
]

/** Reasons of refusals that are counted by their names. */
const refusals: ReadonlySet<string> = new Set([
  'PodOSSelectorNodeLabelDoesNotMatch',
  'PodOSNotSupported',
  'SupplementalGroupsPolicyNotSupported',
  'UnexpectedAdmissionError',
  'OutOfcpu',
  'OutOfmemory',
  'OutOfephemeral-storage',
  'OutOfpods',
  'Evicted',
  'SysctlForbidden',
  'VolumeAttachmentLimitExceeded',
])

const probeKinds: readonly ProbeKind[] = ['Liveness', 'Readiness', 'Startup']
const probeResults = ['successful', 'failed'] as const

/** Metrics of an agent that has yet to do anything, in the names, labels and buckets of upstream's kubelet. */
export function createAgentMetrics(clock: Clock): AgentMetrics {
  const [registry, probes] = [createMetricsRegistry(), createMetricsRegistry()]
  const worked = registry.histogram({
    name: 'kubelet_pod_worker_duration_seconds',
    help: 'How long a look at one pod took, in seconds, by what it was for.',
    labels: ['operation_type'],
  })
  const started = registry
    .histogram({
      name: 'kubelet_pod_start_duration_seconds',
      help: 'Seconds from the first look at a pod until it ran.',
      buckets: startBuckets,
    })
    .with({})
  const stored = registry.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'How long operations on volumes took, in seconds.',
    labels: ['migrated', 'operation_name', 'status', 'volume_plugin'],
    buckets: storageBuckets,
  })
  const probeTotal = probes.counter({
    name: 'prober_probe_total',
    help: 'Probes of containers that were made, by their results.',
    labels: ['container', 'namespace', 'pod', 'pod_uid', 'probe_type', 'result'],
  })
  const probeDuration = probes.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'How long probes took, in seconds.',
    labels: ['container', 'namespace', 'pod', 'probe_type'],
  })
  const counter = <L extends string>(name: string, help: string, ...labels: readonly L[]) =>
    registry.counter({ name: `kubelet_${name}_total`, help, labels })
  const refused = counter('admission_rejections', 'Pods that the node has not taken on.', 'reason')
  const evictions = registry.counter({
    name: 'kubelet_evictions',
    help: 'Pods that the node has ended for what it lacks, or what they take.',
    labels: ['eviction_signal'],
  })
  const preemptions = registry.counter({
    name: 'kubelet_preemptions',
    help: 'Pods that the node has ended for critical ones.',
    labels: ['preemption_signal'],
  })
  const starting = counter('started_containers', 'Containers that were to be started.', 'container_type')
  const notStarted = counter(
    'started_containers_errors',
    'Containers that could not be started.',
    'container_type',
    'code',
  )
  const ended = counter('terminated_containers', 'Containers that have ended.', 'container_type', 'exit_code', 'reason')
  const pulled = registry.histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'How long images took to be pulled, with the wait for their turn, in seconds.',
    labels: ['image_size_in_bytes'],
    buckets: pullBuckets,
  })
  return {
    registry,
    probes,
    podRefused(reason) {
      const other = reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other'
      refused.with({ reason: refusals.has(reason) ? reason : other }).inc()
    },
    podEvicted(signal) {
      evictions.with({ eviction_signal: signal }).inc()
    },
    podPreempted(resource) {
      preemptions.with({ preemption_signal: resource }).inc()
    },
    containerStarting(type) {
      starting.with({ container_type: type }).inc()
    },
    containerNotStarted(type, reason) {
      notStarted.with({ container_type: type, code: reason }).inc()
    },
    containerEnded(type, { exitCode, reason = '' }) {
      ended.with({ container_type: type, exit_code: String(exitCode), reason }).inc()
    },
    imagePulled(sizeBytes, durationMs) {
      const [, label = ''] = imageSizes.find(([bytesMax]) => sizeBytes <= bytesMax) ?? []
      pulled.with({ image_size_in_bytes: label }).observe(durationMs / 1000)
    },
    podWorked(operation, durationMs) {
      worked.with({ operation_type: operation }).observe(durationMs / 1000)
    },
    podStarted(durationMs) {
      started.observe(durationMs / 1000)
    },
    async countMount(volume, mount) {
      const beganMs = clock.monotonicMs()
      let status = 'fail-unknown'
      try {
        const mounted = await mount()
        status = 'success'
        return mounted
      } finally {
        const labels = {
          migrated: 'false',
          operation_name: 'volume_mount',
          volume_plugin: volumePlugin(volume),
          status,
        }
        stored.with(labels).observe((clock.monotonicMs() - beganMs) / 1000)
      }
    },
    probed(pod, container, kind, { ok, unknown }, durationMs) {
      // Upstream counts no check that could not be made, and how long those took that went well.
      if (unknown === true) return
      const { probe, uid } = labelsOf(pod, container, kind)
      probeTotal.with({ ...probe, ...uid, result: ok ? 'successful' : 'failed' }).inc()
      if (ok) probeDuration.with(probe).observe(durationMs / 1000)
    },
    forgetProbes(pod) {
      for (const { name } of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
        for (const kind of probeKinds) {
          const { probe, uid } = labelsOf(pod, name, kind)
          for (const result of probeResults) probeTotal.remove({ ...probe, ...uid, result })
          probeDuration.remove(probe)
        }
      }
    },
  }
}

function labelsOf({ metadata }: Pod, container: string, kind: ProbeKind) {
  const { namespace = '', name: pod = '', uid = '' } = metadata
  return { probe: { container, namespace, pod, probe_type: kind }, uid: { pod_uid: uid } }
}
