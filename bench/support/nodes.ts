import type { Connection } from './connection.ts'
import { until } from './work.ts'

export const nodesPath = '/api/v1/nodes'

/** Creates nodes that report once that they are ready, and waits until they take pods. */
export async function createNodes(connection: Connection, names: readonly string[]): Promise<void> {
  for (const name of names) await connection.ask('POST', nodesPath, readyNode(name))
  await until(async () => {
    const { items } = (await connection.ask('GET', `${nodesPath}?resourceVersion=0`)) as NodeList
    return items.length >= names.length && items.every(({ spec }) => (spec.taints ?? []).length === 0)
  })
}

export async function deleteNodes(connection: Connection, names: readonly string[]): Promise<void> {
  for (const name of names) await connection.ask('DELETE', `${nodesPath}/${name}`)
}

interface NodeList {
  readonly items: readonly { readonly spec: { readonly taints?: readonly unknown[] } }[]
}

function readyNode(nodeName: string): object {
  const resources = { cpu: '16', memory: '64Gi', pods: '110' }
  const reportedAt = new Date().toISOString().replace(/\.\d+/, '')
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, labels: { 'kubernetes.io/hostname': nodeName } },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          lastHeartbeatTime: reportedAt,
          lastTransitionTime: reportedAt,
        },
      ],
    },
  }
}
