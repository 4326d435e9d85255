/** Scenarios of upstream’s end-to-end tests in which pods answer each other: real processes, each at an address of its own. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, pod } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

const needsLinux = { meta: { needs: 'Linux' } }

/** Says its name over HTTP and UDP, and asks others for theirs. */
const server = `
  const dgram = require('node:dgram')
  const http = require('node:http')
  const { HOSTNAME: name, POD_IP: address } = process.env
  const dial = {
    http: (host, done) => http.get({ host, port: 8080, path: '/hostname' }, (answer) => answer.on('data', done)),
    udp: (host, done) => {
      const socket = dgram.createSocket('udp4').on('message', (text) => socket.close(() => done(text)))
      socket.send('hostname', 8081, host)
    },
  }
  http.createServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname === '/dial') dial[searchParams.get('protocol')](searchParams.get('host'), (text) => response.end(text))
    else response.end(name)
  }).listen(8080, address)
  const echo = dgram.createSocket('udp4').on('message', (_, { port, address }) => echo.send(name, port, address)).bind(8081, address)`

/** The image that stands for it. */
const image = 'registry.example.com/private/agnhost'

/** What runs in a pod whose image says all. */
const serving = {
  terminationGracePeriodSeconds: 1,
  imagePullSecrets: [{ name: 'image-pull-secret' }],
  containers: [
    {
      name: 'agnhost',
      image: `${image}:2.5`,
      ports: [{ containerPort: 8080 }],
      env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
      readinessProbe: { httpGet: { path: '/hostname', port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
    },
  ],
}

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

describe.skipIf(process.platform !== 'linux')('pods that answer', needsLinux, () => {
  let home: string
  let program: Program
  let kubectl: Kubectl
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    const images = join(home, 'images.json')
    await writeFile(images, JSON.stringify({ [image]: { command: [process.execPath, '-e', server] } }))
    program = await Program.start({ args: ['--runtime', 'process', '--memory', '--images', images] })
    kubectl = await Kubectl.in(program)
  })
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  const raw = (path: string) => kubectl.run(['get', '--raw', `/api/v1/namespaces/default/${path}`])
  const ready = (selector: string, count: number): Promise<readonly Any[]> =>
    eventually(`${count} pods of ${selector} to be ready`, async () => {
      const found = await kubectl.list<Any>('pods', selector)
      const isReady = ({ status }: Any) =>
        status.conditions?.some((each: Any) => each.type === 'Ready' && each.status === 'True')
      return found.length === count && found.every(isReady) && found
    })
  const apply = (object: object) => kubectl.ok(['apply', '-f', '-'], { input: JSON.stringify(object) })

  describe.each([
    ['ReplicationController', 'v1', (labels: object) => labels],
    ['ReplicaSet', 'apps/v1', (labels: object) => ({ matchLabels: labels })],
  ])('%s', (kind, apiVersion, selecting) => {
    it('should serve a basic image on each replica with a private image', async () => {
      const labels = { name: kind.toLowerCase() }
      const template = { metadata: { labels }, spec: serving }
      const spec = { replicas: 2, selector: selecting(labels), template }
      await apply({ apiVersion, kind, metadata: labels, spec })
      for (const { metadata } of await ready(`name=${labels.name}`, 2)) {
        expect((await raw(`pods/${metadata.name}/proxy/hostname`)).stdout).toBe(metadata.name)
      }
      await kubectl.ok(['delete', kind, labels.name, '--wait=false'])
    })
  })

  describe('Granular Checks: Pods', () => {
    let addresses: readonly string[]
    beforeAll(async () => {
      for (const name of ['test-0', 'test-1']) {
        await kubectl.create('pods', pod(name, {}, serving))
        await kubectl.ok(['label', 'pod', name, 'app=granular'])
      }
      const found = await ready('app=granular', 2)
      addresses = found.map(({ status }) => status.podIP)
    })

    it.each(['http', 'udp'])('should function for intra-pod communication: %s', async (protocol) => {
      for (const [index, host] of addresses.entries()) {
        for (const from of ['test-0', 'test-1']) {
          const { stdout } = await raw(`pods/${from}/proxy/dial?host=${host}&protocol=${protocol}`)
          expect(stdout).toBe(`test-${index}`)
        }
      }
    })

    it('should function for node-pod communication: http', async () => {
      const ask = async (host: string): Promise<string> => {
        const [response] = await once(get({ host, port: 8080, path: '/hostname', agent: false }), 'response')
        return String((await response.toArray()).join(''))
      }
      expect(await Promise.all(addresses.map(ask))).toEqual(['test-0', 'test-1'])
    })

    it('should function for node-pod communication: udp', async () => {
      const ask = async (host: string): Promise<string> => {
        const socket = createSocket('udp4')
        socket.send('hostname', 8081, host)
        const [text] = await once(socket, 'message')
        socket.close()
        return String(text)
      }
      expect(await Promise.all(addresses.map(ask))).toEqual(['test-0', 'test-1'])
    })
  })

  describe('Services, through the API server', () => {
    const service = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
    })
    const refusal = (name: string) =>
      eventually(`service ${name} to have no endpoints`, async () => {
        const { code, stderr } = await raw(`services/${name}/proxy/hostname`)
        return code !== 0 && stderr
      })
    const answer = (name: string) =>
      eventually(`service ${name} to answer`, async () => {
        const { code, stdout } = await raw(`services/${name}/proxy/hostname`)
        return code === 0 && stdout
      })

    it('should be able to up and down services', async () => {
      const bring = async (name: string) => {
        await apply(service(name))
        await kubectl.create('pods', pod(name, {}, serving))
        await kubectl.ok(['label', 'pod', name, `app=${name}`])
      }
      await Promise.all([bring('up-down-1'), bring('up-down-2')])
      expect(await Promise.all([answer('up-down-1'), answer('up-down-2')])).toEqual(['up-down-1', 'up-down-2'])
      await kubectl.ok(['delete', 'service/up-down-1', 'pod/up-down-1', '--now'])
      expect((await raw('services/up-down-1/proxy/hostname')).stderr).toMatch(/services "up-down-1" not found/)
      await bring('up-down-3')
      expect(await Promise.all([answer('up-down-2'), answer('up-down-3')])).toEqual(['up-down-2', 'up-down-3'])
    })

    it('should be rejected when no endpoints exist', async () => {
      await apply(service('empty'))
      expect(await refusal('empty')).toMatch(/no endpoints available for service "empty"/)
    })
  })
})
