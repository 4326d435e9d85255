import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import {
  collectProcessMetrics,
  createMetricsRegistry,
  type MetricsRegistry,
  metricsContentType,
} from '@coracle/environment'
import { volumePlugin } from '../metrics/volume-plugin.ts'
import { isOver } from '../pod/plan-pod.ts'
import { isStatic } from '../static-pods/is-mirror.ts'
import { type Exchange, send } from './exchange.ts'
import { runtimePods } from './runtime-pods.ts'
import type { ServedNode } from './served-node.ts'

/** `/metrics`: what the agent has counted of its own work, and what is now on the node. */
export async function agentMetrics({ node, response }: Exchange): Promise<void> {
  const present = createMetricsRegistry()
  collectProcessMetrics(present)
  await tellPods(node, present)
  await tellVolumes(node, present)
  send(response, 200, metricsContentType, (node.metrics?.()?.registry.text() ?? '') + present.text())
}

/** `/metrics/probes`: how checks of containers went, of pods that are still checked. */
export function probeMetrics({ node, response }: Exchange): void {
  const present = createMetricsRegistry()
  collectProcessMetrics(present)
  for (const pod of node.pods()) if (isOver(pod)) node.metrics?.()?.forgetProbes(pod)
  const started = /^(# (HELP|TYPE) )?process_start_time_seconds .*\n/gm
  const process = present.text().match(started) ?? []
  send(response, 200, metricsContentType, process.join('') + (node.metrics?.()?.probes.text() ?? ''))
}

const volumeReadings: readonly (readonly [string, string, (found: StatsFs) => number])[] = [
  [
    'capacity_bytes',
    'Size of the file system that a claimed volume is in, in bytes.',
    ({ blocks, bsize }) => blocks * bsize,
  ],
  ['available_bytes', 'What anybody may still take of it, in bytes.', ({ bavail, bsize }) => bavail * bsize],
  ['used_bytes', 'What is taken of it, in bytes.', ({ blocks, bfree, bsize }) => (blocks - bfree) * bsize],
  ['inodes', 'How many inodes it has.', ({ files }) => files],
  ['inodes_free', 'How many of its inodes are free.', ({ ffree }) => ffree],
  ['inodes_used', 'How many of its inodes are taken.', ({ files, ffree }) => files - ffree],
]

/** What upstream measures of directories: the file systems that they are in. */
async function tellVolumes({ claimedVolumes }: ServedNode, metrics: MetricsRegistry): Promise<void> {
  const found = await Promise.all(
    (claimedVolumes?.() ?? []).map(async ({ namespace, claimName: persistentvolumeclaim, path }) => ({
      labels: { namespace, persistentvolumeclaim },
      // A volume goes with its pod.
      read: await statfs(path).catch(() => undefined),
    })),
  )
  for (const [name, help, value] of volumeReadings) {
    const gauge = metrics.gauge({
      name: `kubelet_volume_stats_${name}`,
      help,
      labels: ['namespace', 'persistentvolumeclaim'],
    })
    for (const { labels, read } of found) if (read !== undefined) gauge.with(labels).set(value(read))
  }
}

async function tellPods(node: ServedNode, metrics: MetricsRegistry): Promise<void> {
  const found = await runtimePods(node)
  const running = found.filter(({ sandboxes }) => sandboxes.some(({ ready }) => ready))
  const gauge = <L extends string>(name: string, help: string, ...labels: readonly L[]) =>
    metrics.gauge({ name, help, labels })
  gauge('kubelet_node_name', "The node's name. The count is always 1.", 'node').with({ node: node.nodeName }).set(1)
  gauge('kubelet_running_pods', 'Number of pods that have a running pod sandbox').with({}).set(running.length)
  const states = gauge('kubelet_running_containers', 'Number of containers currently running', 'container_state')
  const containers = found.flatMap((each) => each.containers)
  for (const state of ['created', 'running', 'exited'] as const) {
    states.with({ container_state: state }).set(containers.filter((each) => each.state === state).length)
  }
  const all = found.map(({ pod }) => pod)
  const wanted = all.filter((pod) => !isOver(pod))
  const countPods = (name: string, help: string, some: readonly Pod[]) => {
    const pods = gauge(name, help, 'static')
    const ofFiles = some.filter(isStatic)
    pods.with({ static: '' }).set(some.length - ofFiles.length)
    pods.with({ static: 'true' }).set(ofFiles.length)
  }
  countPods('kubelet_desired_pods', 'Pods of this node. Static ones are from files.', all)
  countPods('kubelet_active_pods', 'Pods of this node that have not ended. Static ones are from files.', wanted)
  const ephemeral = all.reduce((total, { spec }) => total + (spec.ephemeralContainers?.length ?? 0), 0)
  gauge('kubelet_managed_ephemeral_containers', 'Ephemeral containers of pods of this node.').with({}).set(ephemeral)
  const volumes = gauge(
    'volume_manager_total_volumes',
    'Volumes of pods, wanted and brought here.',
    'plugin_name',
    'state',
  )
  const count = (state: string, some: readonly Pod[]) => {
    for (const volume of some.flatMap(({ spec }) => spec.volumes ?? [])) {
      volumes.with({ plugin_name: volumePlugin(volume), state }).inc()
    }
  }
  count('desired_state_of_world', wanted)
  // Volumes are brought to the node before the sandbox of their pod is made.
  count(
    'actual_state_of_world',
    running.map(({ pod }) => pod),
  )
}
