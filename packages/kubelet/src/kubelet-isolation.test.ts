import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { events, nodes, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { realEnvironment } from '@coracle/environment'
import { status } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKubelet } from './kubelet.ts'
import { openCriRuntime } from './runtimes/cri/open-cri-runtime.ts'
import { FakeCri, failure } from './testing/fake-cri.ts'
import { testPod } from './testing/pods.ts'

/** A node agent on a runtime whose only handler gives pods users of their own or not, and that makes no sandbox. */
async function startedKubelet(userNamespaces: boolean) {
  const environment = realEnvironment()
  const handler = { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces } }
  const fake = await FakeCri.start({
    status: () => ({ runtimeHandlers: [handler] }),
    runPodSandbox: () => failure(status.UNKNOWN, 'no namespaces'),
    listImages: () => ({}),
    imageFsInfo: () => ({}),
  })
  const directory = join(fake.directory, 'node')
  const options = { environment, endpoint: fake.endpoint, directory, podLogsDirectory: join(fake.directory, 'logs') }
  const runtime = await openCriRuntime(options)
  const client = createFakeClient(environment)
  const volumesDirectory = join(fake.directory, 'pods')
  // Without that pods wait for the Service by which names are looked up.
  const clusterDns = { servers: ['10.96.0.10'] }
  const kubelet = createKubelet({ client, environment, nodeName: 'node-a', runtime, volumesDirectory, clusterDns })
  onTestFinished(async () => {
    await kubelet.stop({ containers: 'terminate', graceMaxMs: 0 })
    await runtime.close()
  })
  await kubelet.start()
  const { uid: _, ...metadata } = testPod().metadata
  const { metadata: created } = await client.create(pods, testPod({ hostUsers: false }, { metadata }))
  const told = async () => (await client.list(events, { namespace: 'default' })).items.map(({ message }) => message)
  return { client, handler, told, podFiles: join(directory, 'pod-files', created.uid ?? '') }
}

describe('a node agent whose runtime isolates pods', () => {
  it('tells what the handlers of its runtime can do', async () => {
    const { client, handler } = await startedKubelet(true)
    expect((await client.get(nodes, { name: 'node-a' })).status?.runtimeHandlers).toEqual([handler])
  })

  it('tells of a pod whose handler gives it no users of its own', async () => {
    const { told } = await startedKubelet(false)
    const message = "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
    await expect.poll(told).toContain(`Failed to create pod sandbox: ${message}`)
  })

  it('keeps nothing of a pod that is gone and could not be made', async () => {
    const { client, told, podFiles } = await startedKubelet(true)
    await expect.poll(told).toContain('Failed to create pod sandbox: rpc error: code = Unknown desc = no namespaces')
    expect(existsSync(podFiles)).toBe(true)
    await client.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await expect.poll(() => existsSync(podFiles)).toBe(false)
  })
})
