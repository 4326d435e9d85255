import { deployments } from '@coracle/api'
import { connectionOf, createHttpClient, parseKubeconfig } from '@coracle/client'
import { realEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { startCluster } from '../src/index.ts'

const environment = realEnvironment()

it('shows what its controllers do, under upstream’s names', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const connection = await connectionOf(await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'), environment)
  await using stack = new AsyncDisposableStack()
  const client = stack.adopt(createHttpClient({ ...connection, ...environment }), (each) => each.close())
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
    },
  })
  const reconciled = /^controller_runtime_reconcile_total\{controller="replicaset-controller",result="success"\} [1-9]/m
  const text = () => client.rawGet('/metrics')
  await expect.poll(text).toMatch(reconciled)
  for (const name of ['deployment-controller', 'replicaset-controller', 'garbage_collector_attempt_to_delete']) {
    // What one controller writes is work for others.
    await expect.poll(text).toContain(`workqueue_depth{name="${name}",controller="${name}",priority="fresh"} 0\n`)
  }
  expect(await text()).toMatch(/^process_cpu_seconds_total [0-9.]+$/m)
})
