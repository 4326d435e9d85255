import { VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { createAgentMetrics } from './create-agent-metrics.ts'

describe('what an agent counts', () => {
  const counted = (count: (metrics: ReturnType<typeof createAgentMetrics>) => void, about: RegExp) => {
    const metrics = createAgentMetrics(new VirtualClock())
    count(metrics)
    return metrics.registry
      .text()
      .split('\n')
      .filter((line) => about.test(line))
  }

  it('of starts and ends of containers is by what they are to their pod', () => {
    const lines = counted((metrics) => {
      metrics.containerStarting('init_container')
      metrics.containerStarting('container')
      metrics.containerNotStarted('container', 'ErrImagePull')
      metrics.containerEnded('ephemeral_container', { exitCode: 137, reason: 'OOMKilled' })
    }, /^kubelet_\w+_containers\w*\{/)
    expect(lines.sort()).toEqual([
      'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"} 1',
      'kubelet_started_containers_total{container_type="container"} 1',
      'kubelet_started_containers_total{container_type="init_container"} 1',
      'kubelet_terminated_containers_total{container_type="ephemeral_container",exit_code="137",reason="OOMKilled"} 1',
    ])
  })

  it.each([
    ['OutOfcpu', 'OutOfcpu'],
    ['OutOfexample.com/gpu', 'OutOfExtendedResources'],
    ['Evicted', 'Evicted'],
    ['NodeAffinity', 'Other'],
  ])('of pods that are refused is by no more reasons than are known: %s', (reason, label) => {
    const lines = counted((metrics) => metrics.podRefused(reason), /^kubelet_admission/)
    expect(lines).toEqual([`kubelet_admission_rejections_total{reason="${label}"} 1`])
  })

  it('of pods that the node has ended is by what it lacked', () => {
    const lines = counted((metrics) => {
      metrics.podEvicted('nodefs.available')
      metrics.podPreempted('cpu')
    }, /^kubelet_(evictions|preemptions)/)
    expect(lines).toEqual([
      'kubelet_evictions{eviction_signal="nodefs.available"} 1',
      'kubelet_preemptions{preemption_signal="cpu"} 1',
    ])
  })

  it.each([
    [0, 'N/A'],
    [10 * 1024 ** 2, '0-10MB'],
    [10 * 1024 ** 2 + 1, '10MB-100MB'],
    [200 * 1024 ** 3, 'GT100GB'],
  ])('of pulls is by how large images are: %d', (bytes, label) => {
    const lines = counted((metrics) => metrics.imagePulled(bytes, 4000), /^kubelet_image_pull.*le="[15]"/)
    expect(lines).toEqual([
      `kubelet_image_pull_duration_seconds_bucket{image_size_in_bytes="${label}",le="1"} 0`,
      `kubelet_image_pull_duration_seconds_bucket{image_size_in_bytes="${label}",le="5"} 1`,
    ])
  })
})
