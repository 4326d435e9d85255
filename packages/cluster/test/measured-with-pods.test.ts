import { realEnvironment, VirtualClock } from '@coracle/environment'
import { createSimulatedRuntime } from '@coracle/kubelet/simulated'
import { expect, it } from 'vitest'
import { measuredWithPods } from '../src/node-runtime.ts'

function measured() {
  const clock = new VirtualClock()
  const original = createSimulatedRuntime({ environment: { ...realEnvironment(), clock } })
  return { clock, original, ...measuredWithPods(original, clock) }
}

const place = {
  podUid: 'uid-1',
  podName: 'web',
  podNamespace: 'default',
  attempt: 0,
  hostname: 'web',
  hostNetwork: true,
}

it('is the runtime as it is until there are pods, and counts from the first sandbox on', async () => {
  const { runtime, original, metrics } = measured()
  expect([runtime.name, await runtime.listPodSandboxes()]).toEqual([original.name, []])
  const { id } = await runtime.runPodSandbox(place)
  expect(await original.listPodSandboxes()).toMatchObject([{ id }])
  await runtime.listContainers()
  const counted = metrics()?.registry.text().split('\n')
  expect(counted).toEqual(
    expect.arrayContaining([
      'kubelet_started_pods_total 1',
      'kubelet_runtime_operations_total{operation_type="run_podsandbox"} 1',
      'kubelet_runtime_operations_total{operation_type="list_containers"} 1',
    ]),
  )
  expect(counted?.join()).not.toContain('kubelet_runtime_operations_total{operation_type="list_podsandbox"}')
})

it('counts from when somebody asks, and no virtual time passes before', async () => {
  const { clock, metrics } = measured()
  expect(metrics()?.registry.text()).toBe('')
  await clock.advance('1s')
  expect(metrics()?.registry.text()).toContain('kubelet_started_pods_total 0')
  expect(metrics()).toBe(metrics())
})

it('counts what happens before that which counts is loaded', async () => {
  const { clock, metrics } = measured()
  const volume = { name: 'data', emptyDir: {} }
  const mounted = metrics()?.countMount(volume, async () => 'path')
  metrics()?.podWorked('create', 5)
  expect(await mounted).toBe('path')
  await clock.advance('1s')
  const counted = metrics()?.registry.text()
  expect(counted).toMatch(/storage_operation_duration_seconds_count{.*operation_name="volume_mount".*} 1/)
  expect(counted).toContain('kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1')
})
