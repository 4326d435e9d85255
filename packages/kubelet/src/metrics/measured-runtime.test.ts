import { createMetricsRegistry, realEnvironment, VirtualClock } from '@coracle/environment'
import { expect, it } from 'vitest'
import type { ImageService, PodSandboxConfig, Runtime } from '../runtimes/runtime.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { measuredRuntime } from './measured-runtime.ts'

const place: PodSandboxConfig = {
  podUid: 'uid-1',
  podName: 'web',
  podNamespace: 'default',
  attempt: 0,
  hostname: 'web',
  hostNetwork: true,
}

it('counts what a runtime is asked, and gives its answers', async () => {
  const registry = createMetricsRegistry()
  const clock = new VirtualClock()
  const original = createSimulatedRuntime({ environment: { ...realEnvironment(), clock } })
  const runtime = measuredRuntime(original, registry, clock)
  expect([runtime.name, runtime.runsProcesses, runtime.images]).toEqual([original.name, false, undefined])
  expect(runtime.status).toBeUndefined()
  const { id } = await runtime.runPodSandbox(place)
  expect((await runtime.listPodSandboxes()).map((each) => each.id)).toEqual([id])
  await expect(runtime.execSync('c', [], new AbortController().signal)).rejects.toThrow('no processes to run commands')
  const lines = registry.text().split('\n')
  const counted = lines.filter((line) => /^kubelet_runtime_operations(_errors)?_total\{|seconds_count/.test(line))
  expect(counted).toEqual([
    'kubelet_run_podsandbox_duration_seconds_count{runtime_handler=""} 1',
    'kubelet_runtime_operations_duration_seconds_count{operation_type="run_podsandbox"} 1',
    'kubelet_runtime_operations_duration_seconds_count{operation_type="list_podsandbox"} 1',
    'kubelet_runtime_operations_duration_seconds_count{operation_type="exec_sync"} 1',
    'kubelet_runtime_operations_errors_total{operation_type="exec_sync"} 1',
    'kubelet_runtime_operations_total{operation_type="run_podsandbox"} 1',
    'kubelet_runtime_operations_total{operation_type="list_podsandbox"} 1',
    'kubelet_runtime_operations_total{operation_type="exec_sync"} 1',
  ])
  expect(lines).toEqual(
    expect.arrayContaining([
      'kubelet_started_pods_total 1',
      'kubelet_started_pods_errors_total 0',
      'kubelet_started_user_namespaced_pods_total 0',
    ]),
  )
})

it('counts for how long it took, what failed, and what is asked about images', async () => {
  const registry = createMetricsRegistry()
  const clock = new VirtualClock()
  const images = {
    pull: async () => {
      await clock.advance('40s')
      return 'sha256:1'
    },
  } as Partial<ImageService> as ImageService
  const runPodSandbox = async () => {
    throw new Error('no network')
  }
  const runtime = measuredRuntime({ images, runPodSandbox } as Partial<Runtime> as Runtime, registry, clock)
  expect(await runtime.images?.pull('nginx:1', undefined, new AbortController().signal)).toBe('sha256:1')
  const isolation = { runtimeHandler: 'gvisor', ownUsers: true } as PodSandboxConfig['isolation']
  await expect(runtime.runPodSandbox({ ...place, ...(isolation && { isolation }) })).rejects.toThrow('no network')
  expect(registry.text().split('\n')).toEqual(
    expect.arrayContaining([
      'kubelet_runtime_operations_duration_seconds_sum{operation_type="pull_image"} 40',
      'kubelet_runtime_operations_duration_seconds_bucket{operation_type="pull_image",le="47.6837158203125"} 1',
      'kubelet_runtime_operations_errors_total{operation_type="run_podsandbox"} 1',
      'kubelet_run_podsandbox_errors_total{runtime_handler="gvisor"} 1',
      'kubelet_started_pods_total 1',
      'kubelet_started_pods_errors_total 1',
      'kubelet_started_user_namespaced_pods_total 1',
      'kubelet_started_user_namespaced_pods_errors_total 1',
    ]),
  )
})
