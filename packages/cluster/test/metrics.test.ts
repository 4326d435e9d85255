import { deployments, pods } from '@coracle/api'
import { connectionOf, createHttpClient, parseKubeconfig } from '@coracle/client'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
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

describe('what a node tells scrapers through nodes/proxy', () => {
  const start = async (runtime: 'process' | 'simulated') => {
    const stack = new AsyncDisposableStack()
    onTestFinished(() => stack.disposeAsync())
    const cluster = stack.use(await startCluster({ nodes: 2, runtime }))
    const connection = await connectionOf(await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'), environment)
    const clientAs = (user?: string) =>
      stack.adopt(
        createHttpClient({ ...connection, ...environment, ...(user === undefined ? {} : { impersonate: { user } }) }),
        (each) => each.close(),
      )
    const client = clientAs()
    const path = (node: string, metrics: string) => `/api/v1/nodes/${node}/proxy/metrics${metrics}`
    // Scrapers are there before any pod is.
    for (const each of ['', '/probes']) {
      expect(await client.rawGet(path('node-1', each))).toContain('process_start_time_seconds')
    }
    await client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        nodeName: 'node-1',
        containers: [
          {
            name: 'web',
            image: 'example/web',
            command: ['sleep', '600'],
            readinessProbe: { exec: { command: ['true'] } },
          },
        ],
      },
    })
    const isReady = async () => {
      const { status } = await client.get(pods, { namespace: 'default', name: 'web' })
      return status?.containerStatuses?.[0]?.ready
    }
    await expect.poll(isReady).toBe(true)
    return { client, clientAs, ask: (metrics: string, node = 'node-1') => client.rawGet(path(node, metrics)), path }
  }

  it('is of processes what the system counts, how they are checked, and how the agent works', async () => {
    const { ask, clientAs, path } = await start('process')
    const cadvisor = await ask('/cadvisor')
    for (const name of [
      'cpu_usage_seconds_total',
      'memory_working_set_bytes',
      'memory_usage_bytes',
      'start_time_seconds',
    ]) {
      const line = new RegExp(`^container_${name}\\{.*container="web",.*namespace="default",pod="web"\\} [0-9.]+`, 'm')
      expect(cadvisor).toMatch(line)
    }
    expect(cadvisor).not.toContain('container_spec_')
    expect(cadvisor).not.toContain('container_network_')
    expect(await ask('/cadvisor', 'node-0')).not.toContain('pod="web"')
    expect(await ask('/probes')).toMatch(/^prober_probe_total\{.*pod="web".*result="successful"\} [1-9]/m)
    const own = await ask('')
    expect(own).toMatch(/^kubelet_runtime_operations_total\{operation_type="start_container"\} 1$/m)
    expect(own).toMatch(/^kubelet_runtime_operations_duration_seconds_count\{operation_type="run_podsandbox"\} 1$/m)
    expect(own).toMatch(/^kubelet_pod_start_duration_seconds_count 1$/m)
    expect(own).toMatch(/^kubelet_running_pods 1$/m)
    // Whoever goes through the API server needs the right to all that it passes on, as upstream.
    await expect(clientAs('jane').rawGet(path('node-1', '/cadvisor'))).rejects.toMatchObject({ reason: 'Forbidden' })
  })

  it('is of simulated nodes what their pods say', async () => {
    const { ask } = await start('simulated')
    const cadvisor = await ask('/cadvisor')
    expect(cadvisor).toMatch(/^container_cpu_usage_seconds_total\{.*container="web",.*pod="web"\} [0-9.e-]+ \d+$/m)
    expect(cadvisor).toMatch(/^machine_cpu_cores\{.*\} 32$/m)
    expect(await ask('/cadvisor', 'node-0')).not.toContain('pod="web"')
    expect(await ask('')).toMatch(/^kubelet_running_containers\{container_state="running"\} 1$/m)
    expect(await ask('/probes')).not.toContain('prober_')
    expect(await ask('/resource')).toMatch(/^container_memory_working_set_bytes\{.*pod="web"\} [1-9]/m)
  })
})
