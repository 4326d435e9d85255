import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { events, type Pod, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { realEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import type { OpenServiceNames, ServiceNames } from './hosts/service-names.ts'
import { createKubelet } from './kubelet.ts'
import { createProcessRuntime } from './runtimes/process/process-runtime.ts'
import type { Mount, Runtime } from './runtimes/runtime.ts'
import { testContainer, testPod } from './testing/pods.ts'
import { temporaryDirectory } from './testing/temporary-directory.ts'

/** Services that a test changes. */
class ChangingServices implements ServiceNames {
  readonly #listeners = new Set<() => void>()
  #address = '127.4.0.7'

  set address(address: string) {
    this.#address = address
    for (const listener of this.#listeners) listener()
  }

  get followers(): number {
    return this.#listeners.size
  }

  lines(namespace: string): string {
    return `${this.#address}\tdb.${namespace}\n`
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Processes that have, or could have, mounts of their own, whatever this host allows; with the mounts that they are to have. */
function processes(dataDirectory: string, hasPrivateMounts: boolean): Runtime & { readonly mounts: Mount[] } {
  const environment = realEnvironment()
  const runtime = createProcessRuntime({ environment, dataDirectory, nodeName: 'node-a' })
  const mounts: Mount[] = []
  const createContainer: Runtime['createContainer'] = (sandboxId, config) => {
    mounts.push(...config.mounts)
    return runtime.createContainer(sandboxId, { ...config, mounts: [] })
  }
  const own: Readonly<Record<string, unknown>> = { hasPrivateMounts, mounts, createContainer }
  return new Proxy(runtime, {
    get(_, key) {
      if (typeof key === 'string' && key in own) return own[key]
      const value: unknown = Reflect.get(runtime, key, runtime)
      return typeof value === 'function' ? value.bind(runtime) : value
    },
  }) as Runtime & { readonly mounts: Mount[] }
}

const client = () => createFakeClient(realEnvironment())

interface NodeParts {
  readonly api: ReturnType<typeof client>
  readonly dataDirectory: string
  readonly hasPrivateMounts?: boolean
  readonly openServiceNames: OpenServiceNames
}

async function startNode({ api, dataDirectory, hasPrivateMounts = true, openServiceNames }: NodeParts) {
  const runtime = processes(dataDirectory, hasPrivateMounts)
  const kubelet = createKubelet({
    client: api,
    environment: realEnvironment(),
    nodeName: 'node-a',
    runtime,
    volumesDirectory: join(dataDirectory, 'pods'),
    openServiceNames,
  })
  let isStopped = false
  const stop = async (containers: 'keep' | 'terminate') => {
    if (isStopped) return
    isStopped = true
    await kubelet.stop({ containers, graceMaxMs: 0 })
    await runtime.close()
  }
  onTestFinished(() => stop('terminate'))
  await kubelet.start()
  return { mounts: runtime.mounts, stop }
}

const sleeping = (): Pod => {
  const { uid: _, ...metadata } = testPod().metadata
  return { ...testPod({ containers: [testContainer({ command: ['sleep', '1000'] })] }), metadata }
}

const created = async (api: ReturnType<typeof client>) => (await api.create(pods, sleeping())).metadata.uid ?? ''
const phase = async (api: ReturnType<typeof client>) =>
  (await api.get(pods, { namespace: 'default', name: 'web' })).status?.phase

it('gives processes hosts files that follow services, also when it is started again', async () => {
  const [api, dataDirectory, services] = [client(), temporaryDirectory(), new ChangingServices()]
  const parts = { api, dataDirectory, openServiceNames: async () => services }
  const node = await startNode(parts)
  const uid = await created(api)
  const path = join(dataDirectory, 'pods', uid, 'etc.hosts')
  await expect.poll(() => phase(api)).toBe('Running')
  expect(node.mounts).toEqual([{ name: 'etc-hosts', containerPath: '/etc/hosts', hostPath: path }])
  const text = () => readFileSync(path, 'utf8')
  const { status } = await api.get(pods, { namespace: 'default', name: 'web' })
  expect(text()).toContain(`\n${status?.podIP}\tweb\n`)
  expect(text()).toContain('127.4.0.7\tdb.default\n')
  services.address = '127.4.0.8'
  await expect.poll(text).toContain('127.4.0.8\tdb.default\n')
  await node.stop('keep')
  expect(services.followers).toBe(0)
  services.address = '127.4.0.9'
  await startNode(parts)
  await expect.poll(text).toContain('127.4.0.9\tdb.default\n')
  expect(text()).toContain(`\n${status?.podIP}\tweb\n`)
  services.address = '127.4.0.10'
  await expect.poll(text).toContain('127.4.0.10\tdb.default\n')
  await api.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
  await expect.poll(() => existsSync(join(dataDirectory, 'pods', uid))).toBe(false)
})

it('leaves processes that cannot have such a file to that of their host', async () => {
  const [api, dataDirectory] = [client(), temporaryDirectory()]
  let openings = 0
  const openServiceNames = async () => {
    openings += 1
    return new ChangingServices()
  }
  const node = await startNode({ api, dataDirectory, hasPrivateMounts: false, openServiceNames })
  const uid = await created(api)
  await expect.poll(() => phase(api)).toBe('Running')
  expect(node.mounts).toEqual([])
  expect(existsSync(join(dataDirectory, 'pods', uid, 'etc.hosts'))).toBe(false)
  expect(openings).toBe(0)
})

it('lets a pod go that waits for services', async () => {
  const [api, dataDirectory] = [client(), temporaryDirectory()]
  const asked = Promise.withResolvers<void>()
  const openServiceNames = () => {
    asked.resolve()
    return new Promise<ServiceNames>(() => {})
  }
  const node = await startNode({ api, dataDirectory, openServiceNames })
  await created(api)
  await asked.promise
  await api.delete(pods, { namespace: 'default', name: 'web' })
  await expect.poll(async () => (await api.list(pods)).items).toEqual([])
  expect(node.mounts).toEqual([])
  expect((await api.list(events)).items.map(({ reason }) => reason)).not.toContain('Failed')
})
