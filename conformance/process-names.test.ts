import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

// Containers that are processes of this host find services by their names, as those do whose manifests are written for any cluster.

const nobody = { uid: 65_534, gid: 65_534 }

/** Says which pod it is, at the address of that. */
const server = `require('http').createServer((_, answer) => answer.end(process.env.HOSTNAME)).listen(8080, process.env.CORACLE_POD_IP)`
/** Asks by name, as programs do that know nothing of where they are. */
const client = (url: string) =>
  `fetch('${url}').then((answer) => answer.text()).then(console.log, (error) => console.log(error.cause.code))`

const container = (command: readonly string[]) => ({ name: 'main', image: 'example/node', command })
const serving = {
  ...container([process.execPath, '-e', server]),
  readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1, timeoutSeconds: 30 },
}
const sleeping = container(['sleep', '10000'])
const spec = (each: object) => ({ terminationGracePeriodSeconds: 0, containers: [each] })
const pod = (name: string, each: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { ...spec(each), ...more },
})
const service = (name: string, fields: object, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { ports: [{ port: 8080 }], ...fields },
})
const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    serviceName: 'web',
    replicas: 2,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: spec(serving) },
  },
}

const isRoot = process.getuid?.() === 0
describe.skipIf(process.platform !== 'linux' || !isRoot)('with root', { meta: { needs: 'root on Linux' } }, () =>
  itFinds(),
)
describe.skipIf(process.platform !== 'linux')('with an ordinary user', { meta: { needs: 'Linux' } }, () =>
  itFinds(isRoot ? nobody : undefined),
)

function itFinds(user?: { readonly uid: number; readonly gid: number }): void {
  let home: string
  let program: Program
  let kubectl: Kubectl
  const start = async () => {
    program = await Program.start({ dataDir: join(home, 'data'), env: { HOME: home }, ...user })
    kubectl = await Kubectl.in(program)
  }
  const apply = (...objects: readonly object[]) =>
    kubectl.ok(['apply', '-f', '-'], { input: objects.map((object) => JSON.stringify(object)).join('\n---\n') })
  const inPod = async (command: readonly string[], name = 'client') => {
    const { stdout } = await kubectl.run(['exec', name, '--', ...command])
    return stdout.trim()
  }
  const ask = (url: string, name?: string) => inPod([process.execPath, '-e', client(url)], name)
  /** The addresses that a program is told a name has; none where it is told that there is none. */
  const addressesOf = async (host: string, name?: string) => {
    const text = await inPod(['getent', 'ahostsv4', host], name)
    return [...new Set(text.split('\n').flatMap((line) => line.split(/\s/)[0] || []))].sort()
  }
  const clusterIp = (name: string) => kubectl.ok(['get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}'])
  const podIp = (name: string) => kubectl.ok(['get', 'pod', name, '-o', 'jsonpath={.status.podIP}'])

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'coracle-'))
    if (user !== undefined) chownSync(home, user.uid, user.gid)
    await start()
    await kubectl.ok(['create', 'namespace', 'other'])
    await apply(
      service('backend', { selector: { app: 'backend' } }),
      service('far', { selector: { app: 'far' } }, 'other'),
      service('web', { clusterIP: 'None', selector: { app: 'web' } }),
      service('outside', { type: 'ExternalName', externalName: 'www.example' }),
      statefulSet,
      pod('backend', serving),
      pod('client', sleeping, { subdomain: 'web', hostAliases: [{ ip: '192.0.2.7', hostnames: ['added.example'] }] }),
      pod('host', sleeping, { hostNetwork: true }),
    )
    await kubectl.ok(['rollout', 'status', 'statefulset/web', '--timeout=60s'])
    await kubectl.ok(['wait', '--for=condition=Ready', '--timeout=60s', 'pod/backend', 'pod/client', 'pod/host'])
    // Pods are ready before those are told that services lead to them.
    await eventually('the service', async () => (await ask('http://backend:8080')) === 'backend')
    for (const name of ['web-0.web', 'web-1.web'])
      await eventually(`the name ${name}`, async () => (await addressesOf(name)).length > 0)
  })
  afterAll(async () => {
    await program?.end('SIGINT')
    rmSync(home, { recursive: true, force: true })
  })

  it('reaches a service by each of its names', async () => {
    for (const name of ['backend', 'backend.default', 'backend.default.svc', 'backend.default.svc.cluster.local'])
      expect(await ask(`http://${name}:8080`)).toBe('backend')
  })

  it('knows services of other namespaces by these, too', async () => {
    const address = await kubectl.ok(['get', 'service', 'far', '-n', 'other', '-o', 'jsonpath={.spec.clusterIP}'])
    expect(await addressesOf('far.other')).toEqual([address])
    expect(await addressesOf('far')).toEqual([])
  })

  it('knows pods of a StatefulSet by their names, and those behind its service', async () => {
    expect(await ask('http://web-0.web:8080')).toBe('web-0')
    expect(await ask('http://web-1.web.default.svc.cluster.local:8080')).toBe('web-1')
    const both = await Promise.all([podIp('web-0'), podIp('web-1')])
    expect(both).toEqual(expect.arrayContaining([...(await addressesOf('web'))]))
    expect(await addressesOf('web')).not.toEqual([])
  })

  it('knows its own names, what its pod adds, and what the host knows', async () => {
    for (const name of ['client', 'client.web.default.svc.cluster.local'])
      expect(await addressesOf(name)).toEqual([await podIp('client')])
    expect(await addressesOf('added.example')).toEqual(['192.0.2.7'])
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1'])
  })

  it('is not told of a service that is another name, nor of that of the API', async () => {
    expect(await addressesOf('outside')).toEqual([])
    expect(await addressesOf('kubernetes.default')).toEqual([])
  })

  it('looks names up as the host does where the pod is on its network', async () => {
    expect(await addressesOf('backend', 'host')).toEqual([])
  })

  it('follows a service to another address, and out of the cluster', async () => {
    const former = await clusterIp('backend')
    await kubectl.ok(['delete', 'service', 'backend'])
    await eventually('the name to go', async () => (await addressesOf('backend')).length === 0)
    await apply(service('taken', { clusterIP: former }), service('backend', { selector: { app: 'backend' } }))
    await eventually('the new address', async () => (await ask('http://backend:8080')) === 'backend')
    expect(await addressesOf('backend')).toEqual([await clusterIp('backend')])
    expect(await clusterIp('backend')).not.toBe(former)
  })

  it('follows while Coracle is started again', async () => {
    await program.end('SIGKILL')
    await start()
    await apply(service('later', { selector: { app: 'backend' } }))
    await eventually('the new name', async () => (await ask('http://later:8080')) === 'backend')
  })
}
