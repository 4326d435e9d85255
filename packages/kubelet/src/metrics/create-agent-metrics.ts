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
  return {
    registry,
    probes,
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
