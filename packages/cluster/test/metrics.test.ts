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
  // The pod of the deployment.
  await expect
    .poll(text)
    .toMatch(/^pod_security_evaluations_total\{decision="allow".*request_operation="create".*\} 1$/m)
})

it('divides among the levels of flow control as many requests as it is told to answer at a time', async () => {
  await using cluster = await startCluster({ nodes: 0, requestsInFlightMax: 50, authorizationModes: ['AlwaysAllow'] })
  const connection = await connectionOf(await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'), environment)
  await using stack = new AsyncDisposableStack()
  const client = stack.adopt(createHttpClient({ ...connection, ...environment }), (each) => each.close())
  const jane = stack.adopt(createHttpClient({ ...connection, impersonate: { user: 'jane' }, ...environment }), (each) =>
    each.close(),
  )
  // Flow control is loaded with the first request of somebody who may not do everything.
  await jane.rawGet('/version')
  const nominal = async () =>
    [...(await client.rawGet('/metrics')).matchAll(/^apiserver_flowcontrol_nominal_limit_seats\{.*\} (\d+)$/gm)]
      .map(([, seats]) => Number(seats))
      .reduce((sum, seats) => sum + seats, 0)
  await expect.poll(nominal).toBeGreaterThan(0)
  // Each level's part is rounded up.
  const levels = 8
  expect(await nominal()).toBeGreaterThanOrEqual(50)
  expect(await nominal()).toBeLessThan(50 + levels)
})
