import type { Connection } from './connection.ts'

export const controllersPath = '/api/v1/namespaces/default/replicationcontrollers'
export const podsPath = '/api/v1/namespaces/default/pods'

export function replicationController(name: string, replicas: number): object {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name },
    spec: {
      replicas,
      selector: { app: name },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example/main', command: ['serve'] }] },
      },
    },
  }
}

/** A pod that no scheduler takes. */
export function unscheduledPod(name: string): object {
  const resources = { requests: { cpu: '10m', memory: '16Mi' } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'bench' } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'example/main', resources }] },
  }
}

/** How many pods there are. */
export async function countPods(connection: Connection): Promise<number> {
  const list = (await connection.ask('GET', `${podsPath}?limit=1`)) as PodPage
  return list.items.length + (list.metadata.remainingItemCount ?? 0)
}

/** Whether any pod is without a node, from memory: Kubernetes would read them all from etcd each time. */
export async function hasUnscheduledPods(connection: Connection): Promise<boolean> {
  const list = (await connection.ask(
    'GET',
    `${podsPath}?limit=1&resourceVersion=0&fieldSelector=spec.nodeName%3D`,
  )) as PodPage
  return list.items.length > 0
}

interface PodPage {
  readonly items: readonly unknown[]
  readonly metadata: { readonly remainingItemCount?: number }
}

/** How many pods of a controller are ready, as it says itself. */
export async function readyReplicas(connection: Connection, name: string): Promise<number> {
  const controller = await connection.ask('GET', `${controllersPath}/${name}`)
  return (controller as { readonly status?: { readonly readyReplicas?: number } }).status?.readyReplicas ?? 0
}
