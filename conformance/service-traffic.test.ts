import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, patch, post, remove } from './support/api.ts'
import { eventually, Program } from './support/program.ts'

const needsLinux = { meta: { needs: 'Linux' } }

// Services in front of real processes of this host, asked from outside and from within a pod.

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

const namespace = '/api/v1/namespaces/default'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

/** Says its track at its pod's address. Told to end, it still answers whom it has accepted. */
const server = `
  const server = require('http').createServer((_, answer) => answer.end(process.env.TRACK))
  server.listen(8080, process.env.POD_IP)
  process.once('SIGTERM', () => server.close())`

function track(name: string, replicas: number, more: object = {}): object {
  const labels = { tier: 'frontend', environment: 'prod', track: name }
  const container = {
    name: 'web',
    image: 'example/node',
    command: [process.execPath, '-e', server],
    env: [
      { name: 'TRACK', value: name },
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ],
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { port: 'http', path: '/' }, periodSeconds: 1, timeoutSeconds: 30 },
    // Who is on the way out still answers while others learn of it.
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
    ...more,
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `frontend-${name}` },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'frontend' },
  spec: {
    type: 'NodePort',
    selector: { tier: 'frontend', environment: 'prod' },
    ports: [{ port: 8000, targetPort: 'http' }],
  },
}

/** What is answered, over a connection of its own. Rejects where nobody answers. */
function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host, port, path: '/', agent: false, timeout: 60_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve(text)).on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('no answer'))).on('error', reject)
  })
}

/** How many of so many requests each track has answered. */
async function shares(host: string, port: number, count: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (let turn = 0; turn < count; turn += 1) {
    const answer = await ask(host, port)
    counts[answer] = (counts[answer] ?? 0) + 1
  }
  return counts
}

describe.skipIf(process.platform !== 'linux')('a service of two tracks', needsLinux, () => {
  let program: Program
  let api: Api
  let address: string
  let nodePort: number
  beforeAll(async () => {
    program = await Program.start({ args: ['--memory'], alone: true })
    api = await Api.of(program)
    for (const each of [track('stable', 9), track('canary', 1)]) await create(deployments, each)
    const { spec } = await create(`${namespace}/services`, service)
    address = spec.clusterIP
    nodePort = spec.ports[0].nodePort
    await isReady('stable', 9)
    await isReady('canary', 1)
    await isBehind(10)
  })
  afterAll(async () => {
    api.close()
    await program[Symbol.asyncDispose]()
  })

  const create = (path: string, body: object): Promise<Any> => api.object(path, post(body))
  const isReady = (name: string, replicas: number) =>
    eventually(`${replicas} of ${name}`, async () => {
      const { status } = await api.object(`${deployments}/frontend-${name}`)
      return status?.readyReplicas === replicas
    })
  const isBehind = (count: number) =>
    eventually(`${count} behind the service`, async () => {
      const { items } = await api.object('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices')
      const found = items.filter(({ metadata }: Any) => metadata.labels['kubernetes.io/service-name'] === 'frontend')
      const endpoints = found.flatMap((slice: Any) => slice.endpoints)
      return endpoints.filter(({ conditions }: Any) => conditions.ready).length === count
    })

  it('has an address of this host, at which its pods answer, each as often as the others', async () => {
    expect(address).toMatch(/^127\.\d+\.\d+\.\d+$/)
    const { stable = 0, canary = 0 } = await shares(address, 8000, 400)
    expect(stable + canary).toBe(400)
    // A tenth is 40; so far from it comes once in a million times.
    expect(Math.abs(canary - 40)).toBeLessThan(30)
  })

  it('answers at its port on the nodes, too', async () => {
    const { stable = 0, canary = 0 } = await shares('127.0.0.1', nodePort, 50)
    expect(stable + canary).toBe(50)
    expect(stable).toBeGreaterThan(25)
  })

  it('is found by a pod in its environment', async () => {
    const program = `
      const { FRONTEND_SERVICE_HOST: host, FRONTEND_SERVICE_PORT: port } = process.env
      fetch('http://' + host + ':' + port).then((answer) => answer.text()).then((text) => console.log('it says', text))`
    const container = { name: 'main', image: 'example/node', command: [process.execPath, '-e', program] }
    const metadata = { name: 'client' }
    await create(`${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { restartPolicy: 'Never', containers: [container] },
    })
    await eventually('the pod to have asked', async () => {
      const { status } = await api.object(`${namespace}/pods/client`)
      return status?.phase === 'Succeeded'
    })
    const { text } = await api.call(`${namespace}/pods/client/log`)
    expect(text).toMatch(/^it says (stable|canary)\n$/)
  })

  it('sends nothing to pods that are not ready', async () => {
    await create(
      deployments,
      track('broken', 3, { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1, timeoutSeconds: 30 } }),
    )
    await eventually('pods that run', async () => {
      const { items } = await api.object(`${namespace}/pods?labelSelector=track%3Dbroken`)
      return items.length === 3 && items.every(({ status }: Any) => status?.phase === 'Running')
    })
    expect(Object.keys(await shares(address, 8000, 60))).not.toContain('broken')
    await api.call(`${deployments}/frontend-broken`, remove())
  })

  it('answers every request of a rolling update', async () => {
    const template = { metadata: { annotations: { restarted: 'now' } } }
    await api.call(`${deployments}/frontend-stable`, patch('merge', { spec: { template } }))
    let isDone = false
    const done = eventually('the update', async () => {
      const { status, spec, metadata } = await api.object(`${deployments}/frontend-stable`)
      const isOver = status.updatedReplicas === spec.replicas && status.replicas === spec.replicas
      return status.observedGeneration === metadata.generation && isOver && status.readyReplicas === spec.replicas
    }).finally(() => {
      isDone = true
    })
    let asked = 0
    const askOn = async (): Promise<void> => {
      while (!isDone) {
        expect(await ask(address, 8000)).toMatch(/^(stable|canary)$/)
        asked += 1
      }
    }
    await Promise.all([done, askOn(), askOn(), askOn()])
    expect(asked).toBeGreaterThan(20)
  })

  it('refuses whoever comes when nothing is behind it', async () => {
    for (const name of ['stable', 'canary']) await api.call(`${deployments}/frontend-${name}`, remove())
    await isBehind(0)
    await eventually('nobody to listen', async () => {
      const refused = (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED'
      const answers = await Promise.all(
        [ask(address, 8000), ask('127.0.0.1', nodePort)].map((each) => each.then(() => false, refused)),
      )
      return answers.every((each) => each)
    })
  })
})
