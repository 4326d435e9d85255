import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { realEnvironment } from '../packages/environment/src/index.ts'
import { openEtcdStore } from '../packages/store/src/index.ts'
import { hasEtcd, needsEtcd } from '../packages/store/src/testing/etcd-server.ts'
import { AgentProcess } from './support/agent-process.ts'
import { Api, patch, post, remove } from './support/api.ts'
import { configMap, controller, paths, pod } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'
import { startAsTwoServers, TwoServers } from './support/two-servers.ts'

// What kubectl does to one server, it does to two that share an etcd, with its writes on one and its reads on the other. The
// other tests of this folder pass so as well: CORACLE_TEST_SERVERS=2 npx vitest run conformance

const { configMaps, controllers, pods } = paths

describe.skipIf(!hasEtcd)('kubectl and two servers', needsEtcd, async () => {
  if (!hasEtcd) return
  Program.startInstead(startAsTwoServers)
  await import('./kubectl-delete.test.ts')
})

describe.skipIf(!hasEtcd)('two servers on one etcd', needsEtcd, () => {
  let servers: TwoServers
  let one: Api
  let two: Api
  beforeAll(async () => {
    servers = await TwoServers.start({ args: ['--runtime', 'simulated'] })
    one = await Api.of(servers.first)
    two = await Api.of(servers.second)
  })
  afterAll(async () => {
    one?.close()
    two?.close()
    await servers?.[Symbol.asyncDispose]()
  })

  it('show on one at once what the other has acknowledged', async () => {
    for (let index = 0; index < 30; index++) {
      const [writing, reading] = index % 2 === 0 ? [one, two] : [two, one]
      const name = `seen-${index}`
      await writing.object(configMaps, post(configMap(name, { count: '0' })))
      expect((await reading.object(`${configMaps}/${name}`)).data).toEqual({ count: '0' })
      expect((await reading.call(configMaps, post(configMap(name)))).code).toBe(409)
      await reading.object(`${configMaps}/${name}`, patch('merge', { data: { count: '1' } }))
      expect((await writing.object(`${configMaps}/${name}`)).data).toEqual({ count: '1' })
      await writing.object(`${configMaps}/${name}`, remove())
      expect((await reading.call(`${configMaps}/${name}`)).code).toBe(404)
      expect((await reading.call(`${configMaps}/${name}`, remove())).code).toBe(404)
    }
  })

  it('give no address and no port of a service away twice, and are both behind the service kubernetes', async () => {
    const services = '/api/v1/namespaces/default/services'
    const service = (name: string, more: object = {}) =>
      post({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name },
        spec: { type: 'NodePort', ports: [{ port: 80, ...more }] },
      })
    const asked = { nodePort: 30_123 }
    const both = await Promise.all([one, two].map((server, at) => server.call(services, service(`asked-${at}`, asked))))
    expect(both.map(({ code }) => code).sort()).toEqual([201, 422])
    const names = Array.from({ length: 20 }, (_, index) => `chosen-${index}`)
    const created = await Promise.all(
      names.flatMap((name) => [one.object(services, service(`${name}-a`)), two.object(services, service(`${name}-b`))]),
    )
    expect(new Set(created.map(({ spec }) => spec.clusterIP)).size).toBe(40)
    expect(new Set(created.map(({ spec }) => spec.ports[0].nodePort)).size).toBe(40)
    await eventually('both servers', async () => {
      const { subsets = [] } = await one.object('/api/v1/namespaces/default/endpoints/kubernetes')
      return subsets.length === 2 ? true : undefined
    })
  })

  it('serve a kind of the user’s own that was defined at either, and lose it at both', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const widgets = '/apis/example.com/v1/namespaces/default/widgets'
    const version = (more: object) => {
      const spec = { type: 'object', properties: { size: { type: 'integer', ...more } } }
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
      return { name: 'v1', served: true, storage: true, schema }
    }
    const names = { plural: 'widgets', kind: 'Widget' }
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version({})] }
    const kind = 'CustomResourceDefinition'
    const metadata = { name: 'widgets.example.com' }
    await one.object(definitions, post({ apiVersion: 'apiextensions.k8s.io/v1', kind, metadata, spec }))
    await eventually('the kind is established', async () => {
      const { status } = await two.object(`${definitions}/widgets.example.com`)
      return status.conditions?.some(
        (each: { type: string; status: string }) => each.type === 'Established' && each.status === 'True',
      )
    })
    const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })
    await two.object(widgets, post(widget('a')))
    await one.object(widgets, post(widget('b')))
    expect((await one.object(widgets)).items).toHaveLength(2)
    const withDefault = { spec: { versions: [version({ default: 3 })] } }
    await two.object(`${definitions}/widgets.example.com`, patch('merge', withDefault))
    for (const api of [one, two]) {
      await eventually('the default is there', async () => {
        const made = await api.object(widgets, post({ ...widget(''), metadata: { generateName: 'c-' }, spec: {} }))
        return made.spec.size === 3
      })
    }
    await one.object(`${definitions}/widgets.example.com`, remove())
    await eventually(
      'the kind is gone',
      async () => (await two.call(`${definitions}/widgets.example.com`)).code === 404,
    )
    expect([(await one.call(widgets)).code, (await two.call(widgets)).code]).toEqual([404, 404])
    const store = await openEtcdStore({ servers: [servers.etcd.address], environment: realEnvironment() })
    expect((await store.list('/registry/example.com/')).entries).toEqual([])
    await store.close()
  })

  it('serve on where somebody writes into etcd what is no object, and show the object again once it is mended', async () => {
    const store = await openEtcdStore({ servers: [servers.etcd.address], environment: realEnvironment() })
    await one.object(configMaps, post(configMap('overwritten', { by: 'a client' })))
    const path = `${configMaps}/overwritten`
    const key = '/registry/core/configmaps/default/overwritten'
    const kept = await store.get(key)
    const write = (value: Uint8Array) => store.commit({ conditions: [], operations: [{ type: 'put', key, value }] })
    await write(Buffer.from('no object'))
    for (const api of [one, two]) {
      const read = await api.call(path)
      expect([read.code, read.json.reason, read.json.message]).toEqual([
        500,
        'InternalError',
        expect.stringContaining(key),
      ])
      const list = await api.call(configMaps)
      expect([list.code, list.json.reason]).toEqual([500, 'StorageReadError'])
      expect((await api.call('/readyz')).code).toBe(200)
    }
    const podsBeside = async () => (await two.object(`${pods}?labelSelector=app%3Dbeside`)).items.length
    await one.object(controllers, post(controller('beside', 2)))
    await eventually('controllers go on', async () => (await podsBeside()) === 2)
    await one.object(`${controllers}/beside?propagationPolicy=Background`, remove())
    await eventually('the garbage collector goes on', async () => (await podsBeside()) === 0)
    await write(kept?.value ?? Buffer.of())
    for (const api of [one, two]) expect((await api.object(path)).data).toEqual({ by: 'a client' })
    await two.object(path, remove())
    await store.close()
  })

  it('let a watch go on at the other where it ended at the one', async () => {
    const { metadata } = await one.object(configMaps)
    const names: string[] = []
    for (let index = 0; index < 6; index++) await one.object(configMaps, post(configMap(`watched-${index}`)))
    let version = metadata.resourceVersion
    for (const api of [one, two, one]) {
      const lines = await api.lines(`${configMaps}?watch=1&resourceVersion=${version}`)
      for (let count = 0; count < 2; count++) {
        const { object } = await lines.next()
        names.push(object.metadata.name)
        version = object.metadata.resourceVersion
      }
      lines.close()
    }
    expect(names).toEqual([0, 1, 2, 3, 4, 5].map((index) => `watched-${index}`))
  })

  it('lose no count that both raise', async () => {
    await one.object(configMaps, post(configMap('counter', { count: '0' })))
    const raise = async (api: Api) => {
      for (;;) {
        const { data, metadata } = await api.object(`${configMaps}/counter`)
        const { resourceVersion } = metadata
        const body = { metadata: { resourceVersion }, data: { count: String(Number(data.count) + 1) } }
        if ((await api.call(`${configMaps}/counter`, patch('merge', body))).code === 200) return
      }
    }
    const raiseOften = async (api: Api) => {
      for (let count = 0; count < 25; count++) await raise(api)
    }
    await Promise.all([one, two, one, two].map(raiseOften))
    expect((await two.object(`${configMaps}/counter`)).data).toEqual({ count: '100' })
  })

  it('answer in time while their etcd is away, and go on when it is back', async () => {
    await one.object(configMaps, post(configMap('before')))
    const watch = await two.lines(`${configMaps}?watch=1&fieldSelector=metadata.name=after`)
    await servers.etcd.kill()
    const asked = Promise.all([
      one.call(`${configMaps}/before`),
      two.call(configMaps),
      one.call(configMaps, post(configMap('lost'))),
    ])
    const away = await asked.finally(() => servers.etcd.start())
    for (const { code, headers } of away) {
      expect([503, 504]).toContain(code)
      expect(headers['retry-after']).toBe('1')
    }
    // Where a server has not heard in time what came of the first one, it was that one.
    await eventually('a write', async () =>
      [201, 409].includes((await one.call(configMaps, post(configMap('after')))).code),
    )
    expect((await two.object(`${configMaps}/after`)).metadata.name).toBe('after')
    expect((await watch.next()).object.metadata.name).toBe('after')
    watch.close()
  })

  it('go on without the leader when it is killed, and with the nodes that had joined there', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coracle-agent-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const agentOf = (...args: string[]) =>
      AgentProcess.start({ prefix: [] }, [
        ...args,
        ...['--data-dir', directory, '--runtime', 'simulated', '--hostname-override', 'far', '--port', '0'],
      ])
    const runs = async (name: string): Promise<void> => {
      const { spec, ...others } = pod(name)
      await two.object(pods, post({ ...others, spec: { ...spec, nodeName: 'far' } }))
      await eventually(`${name} runs`, async () => (await two.object(`${pods}/${name}`)).status.phase === 'Running')
    }
    const order = await servers.first.coracle(['token', 'create', '--print-join-command'])
    // It names one of them; this node is to join at the other.
    const [, , , ...token] = order.stdout.trim().split(/\s+/)
    let agent = await agentOf(servers.first.address, ...token)
    onTestFinished(() => agent.end('SIGINT'))
    await runs('before-all')
    await eventually('the agent has noted where the others are', async () =>
      readFileSync(join(directory, 'agent.json'), 'utf8').includes(servers.second.address),
    )
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
    await eventually('a leader', async () => (await two.object(lease)).spec.holderIdentity)
    await servers.first.end('SIGKILL')
    // Nobody says which of them led; whoever does from now on renews the lease.
    const { renewTime } = (await two.object(lease)).spec
    await eventually('a leader that lives', async () => (await two.object(lease)).spec.renewTime !== renewTime)
    await two.object(controllers, post(controller('orphaned', 3)))
    await eventually(
      'its pods',
      async () => (await two.object(`${pods}?labelSelector=app%3Dorphaned`)).items.length === 3,
    )
    await runs('after-one')
    await agent.end('SIGTERM')
    agent = await agentOf()
    await runs('after-a-start')
  })
})
