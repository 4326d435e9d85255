import { type Node, type Pod, parseTime } from '@coracle/api'
import { expect, it } from 'vitest'
import { describeAllocatedResources } from './allocated-resources.ts'
import { Description } from './description.ts'

const allocatable = { cpu: '2', memory: '4Gi', pods: '110', 'example.com/gpu': '4', 'hugepages-2Mi': '0' }
const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, status: { allocatable } }

function pod(name: string, requests: Readonly<Record<string, string>>, phase: 'Running' | 'Failed' = 'Running'): Pod {
  const resources = { requests, limits: { memory: '1Gi' } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { containers: [{ name: 'c', image: 'x', resources }] },
    status: { phase },
  }
}

it('shows what each pod that has not ended asks for, and the sums, in shares of the node', () => {
  const text = new Description()
  const pods = [
    pod('web', { cpu: '500m', memory: '1Gi' }),
    pod('db', { cpu: '1', 'example.com/gpu': '2' }),
    pod('old', { cpu: '2' }, 'Failed'),
  ]
  describeAllocatedResources(text, node, pods, parseTime('2026-01-01T01:00:00Z'))
  const lines = text.toString().split('\n')
  expect(lines.map((line) => line.trim().split(/ {2,}/)).filter((cells) => cells.length > 2)).toEqual([
    ['Namespace', 'Name', 'CPU Requests', 'CPU Limits', 'Memory Requests', 'Memory Limits', 'Age'],
    ['---------', '----', '------------', '----------', '---------------', '-------------', '---'],
    ['shop', 'web', '500m (25%)', '0 (0%)', '1Gi (25%)', '1Gi (25%)', '60m'],
    ['shop', 'db', '1 (50%)', '0 (0%)', '0 (0%)', '1Gi (25%)', '60m'],
    ['Resource', 'Requests', 'Limits'],
    ['--------', '--------', '------'],
    ['cpu', '1500m (75%)', '0 (0%)'],
    ['memory', '1Gi (25%)', '2Gi (50%)'],
    ['ephemeral-storage', '0 (0%)', '0 (0%)'],
    ['hugepages-2Mi', '0 (0%)', '0 (0%)'],
    ['example.com/gpu', '2', '0'],
  ])
})
