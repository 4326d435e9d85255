import { formatTime, type KubernetesObject } from '@coracle/api'
import type { HttpClient } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

/** Asks for the usage of pods or nodes; `lists` has what a server has of each kind. */
async function top(line: string, lists: Readonly<Record<string, readonly object[]>>) {
  const environment = virtualEnvironment()
  const asked: string[] = []
  const client = {
    discover: async () => [],
    list: async ({ kind }: { readonly kind: string }, { namespace = '*' }: { readonly namespace?: string }) => {
      asked.push(`${kind} ${namespace}`)
      return { items: (lists[kind] ?? []) as readonly KubernetesObject[], metadata: {} }
    },
  } as unknown as HttpClient
  const recording = recordingHost({ environment })
  const host = { ...recording, connect: async () => ({ client, namespace: 'shop' }) }
  const code = await run(['top', ...line.split(' ')], host)
  return { code, asked, ...recording.written }
}

const podOfAge = (seconds: number) => ({
  metadata: {
    name: `old-${seconds}`,
    namespace: 'shop',
    creationTimestamp: formatTime(virtualEnvironment().clock.now() - seconds * 1000),
  },
})

const usageOf = (namespace: string, name: string, cpu = '1m') => ({
  metadata: { namespace, name },
  containers: [{ name: 'main', usage: { cpu, memory: '1Mi' } }],
})

describe('top pod', () => {
  it('says that there are no pods', async () => {
    const { code, stderr } = await top('pod', {})
    expect([code, stderr]).toEqual([0, 'No resources found in shop namespace.\n'])
  })

  it.each([
    ['that pods are too young to be measured', [20, 120], 'metrics not available yet'],
    ['which pod should have been measured', [20, 121, 300], 'Metrics not available for pod shop/old-121, age: 2m1s'],
  ])('says %s', async (_, ages, told) => {
    const { code, stderr } = await top('pod', { Pod: ages.map(podOfAge) })
    expect([code, stderr]).toEqual([1, `error: ${told}\n`])
  })

  it('looks for pods that were not measured in the namespace of the context alone, as kubectl', async () => {
    const { asked, stderr } = await top('pod -A', {})
    expect([asked, stderr]).toEqual([['PodMetrics *', 'Pod shop'], 'No resources found\n'])
  })

  it('has the pods of a namespace together, before those of a namespace with a longer name', async () => {
    const PodMetrics = [usageOf('shop-test', 'a'), usageOf('shop', 'z'), usageOf('shop', 'b')]
    const { stdout } = await top('pod -A --no-headers', { PodMetrics })
    expect(stdout.split('\n').map((line) => line.split(/ +/).slice(0, 2).join('/'))).toEqual([
      'shop/b',
      'shop/z',
      'shop-test/a',
      '',
    ])
  })
})

describe('top node', () => {
  it('has no share of what a node has nothing of, and an unknown one of what it does not tell of', async () => {
    const NodeMetrics = [{ metadata: { name: 'node' }, usage: { cpu: '5m', memory: '7Mi' } }]
    const { stdout } = await top('node --no-headers', {
      NodeMetrics,
      Node: [{ metadata: { name: 'node' }, status: { allocatable: { cpu: '0' } } }],
    })
    expect(stdout.trim().split(/ +/)).toEqual(['node', '5m', '0%', '7Mi', '<unknown>'])
  })
})
