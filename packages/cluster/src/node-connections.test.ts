import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { type NodeConnection, NodeConnections } from './node-connections.ts'

const pod = (name: string, nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [] },
})
const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

it('tells of no pod or node where its agent cannot say what is used', async () => {
  const away = async () => Promise.reject(new Error('container runtime is down'))
  const connections = new NodeConnections()
  const usage = { podMetrics: away, nodeMetrics: away }
  connections.add('a', { usage, environment: virtualEnvironment() } as unknown as NodeConnection)
  expect(await connections.podMetrics('a', [pod('web', 'a')])).toEqual([])
  expect(await connections.nodeMetrics(node('a'), [])).toBeUndefined()
})
