/** Scenarios of upstream’s end-to-end tests in which services lead to pods: real processes, each at an address of its own. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, patch, post, remove } from './support/api.ts'
import { eventually, Program } from './support/program.ts'

const needsLinux = { meta: { needs: 'Linux' } }

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

/**
 * Says its name over HTTP, at two ports, and UDP, how much it was sent, and asks others for theirs. Told to end it goes on as long as it is
 * let: it says "leaving" in a file beside it.
 */
const server = `
  const dgram = require('node:dgram')
  const http = require('node:http')
  const { HOSTNAME: name, POD_IP: address } = process.env
  process.on('SIGTERM', () => {})
  const dial = {
    http: (host, port, done) => http.get({ host, port, path: '/hostname', agent: false }, (answer) => answer.on('data', done)),
    udp: (host, port, done) => {
      const send = () => socket.send('hostname', port, host)
      const socket = dgram.createSocket('udp4').once('message', (text) => socket.close(() => done(text)))
      const again = setInterval(send, 1000)
      socket.once('close', () => clearInterval(again))
      send()
    },
  }
  for (const port of [8080, 8090]) http.createServer((question, answer) => {
    const { pathname, searchParams } = new URL(question.url, 'http://x')
    if (pathname === '/dial')
      return dial[searchParams.get('protocol')](searchParams.get('host'), searchParams.get('port'), (text) => answer.end(text))
    if (pathname === '/port') return answer.end(String(port))
    let length = 0
    question.on('data', (piece) => { length += piece.length }).on('end', () => answer.end(length === 0 ? name : String(length)))
  }).listen(port, address)
  const echo = dgram.createSocket('udp4').on('message', (asked, { port, address }) =>
    echo.send(String(asked) === 'hostname' ? name : String(asked.length), port, address)).bind(8081, address)`

const image = 'example/netexec'

interface Asked {
  readonly protocol?: 'http' | 'udp'
  readonly path?: string
  readonly body?: string
}

/** What is answered over a connection of its own. Rejects where nobody answers. */
async function ask(host: string, port: number, { protocol = 'http', path = '/hostname', body = '' }: Asked = {}) {
  if (protocol === 'udp') return askUdp(host, port, body)
  const question = request({ host, port, path, method: body === '' ? 'GET' : 'POST', agent: false, timeout: 60_000 })
  question.on('timeout', () => question.destroy(new Error('no answer')))
  question.end(body)
  const [answer] = await once(question, 'response')
  return String((await answer.toArray()).join(''))
}

/** As programs do it whose datagrams may be lost: where no answer comes within a second, they ask again. */
async function askUdp(host: string, port: number, body: string): Promise<string> {
  const socket = createSocket('udp4')
  const send = () => socket.send(body === '' ? 'hostname' : body, port, host)
  const again = setInterval(send, 1000)
  try {
    send()
    const [text] = await once(socket, 'message', { signal: AbortSignal.timeout(60_000) })
    return String(text)
  } finally {
    clearInterval(again)
    socket.close()
  }
}

describe.skipIf(process.platform !== 'linux')('services that lead to pods', needsLinux, () => {
  let home: string
  let program: Program
  let api: Api
  const start = async (): Promise<void> => {
    const args = ['--runtime', 'process', '--images', join(home, 'images.json')]
    program = await Program.start({ args, dataDir: join(home, 'data') })
    api = await Api.of(program)
  }
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    await writeFile(
      join(home, 'images.json'),
      JSON.stringify({ [image]: { command: [process.execPath, '-e', server] } }),
    )
    await start()
  })
  afterAll(async () => {
    api.close()
    await program.end('SIGINT')
    await rm(home, { recursive: true, force: true })
  })

  const base = '/api/v1/namespaces/default'
  const podOf = (name: string, app: string, terminationGracePeriodSeconds = 1) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app } },
    spec: {
      terminationGracePeriodSeconds,
      containers: [
        {
          name: 'main',
          image,
          env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
          readinessProbe: { httpGet: { path: '/hostname', port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
        },
      ],
    },
  })
  const ports = [
    { name: 'http', port: 8000, targetPort: 8080, protocol: 'TCP' },
    { name: 'udp', port: 8000, targetPort: 8081, protocol: 'UDP' },
  ]

  /** Pods `APP-0`, `APP-1` and so on, which are ready. */
  const pods = async (app: string, count: number, gracePeriodSeconds?: number): Promise<readonly Any[]> => {
    const names = Array.from({ length: count }, (_, index) => `${app}-${index}`)
    for (const name of names) await api.object(`${base}/pods`, post(podOf(name, app, gracePeriodSeconds)))
    return eventually(`${count} pods of ${app}`, async () => {
      const { items } = await api.object(`${base}/pods?labelSelector=app%3D${app}`)
      const isReady = ({ status }: Any) =>
        status?.conditions?.some(({ type, status }: Any) => type === 'Ready' && status === 'True')
      return items.length === count && items.every(isReady) && items
    })
  }
  const service = async (name: string, spec: object = {}, metadata: object = {}): Promise<Any> =>
    api.object(
      `${base}/services`,
      post({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, ...metadata },
        spec: { selector: { app: name }, ports, ...spec },
      }),
    )
  const change = (name: string, body: object): Promise<Any> =>
    api.object(`${base}/services/${name}`, patch('merge', body))

  /** Asks until all of these have answered, and nobody else. */
  const answers = (names: readonly string[], host: string, port: number, asked: Asked = {}) =>
    eventually(`answers of ${names.join(', ')} at ${host}:${port}`, async () => {
      const seen = new Set<string>()
      for (let turn = 0; turn < 20 * names.length; turn += 1) seen.add(await ask(host, port, asked))
      return seen.size === names.length && names.every((name) => seen.has(name))
    })
  const refuses = (host: string, port: number) =>
    eventually(`${host}:${port} to refuse`, () =>
      ask(host, port).then(
        () => false,
        ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
      ),
    )
  const nodePortOf = ({ spec }: Any, index = 0): number => spec.ports[index].nodePort
  const fromPod = async (name: string, host: string, port: number, protocol: string): Promise<string> => {
    const query = `host=${host}&port=${port}&protocol=${protocol}`
    return (await api.call(`${base}/pods/${name}:8080/proxy/dial?${query}`)).text
  }

  it('should allow pods to hairpin back to themselves through services', async () => {
    await pods('hairpin', 1)
    const { spec } = await service('hairpin')
    await answers(['hairpin-0'], spec.clusterIP, 8000)
    expect(await fromPod('hairpin-0', spec.clusterIP, 8000, 'http')).toBe('hairpin-0')
  })

  describe.each(['clusterIP', 'NodePort'])('affinity at the %s', (kind) => {
    const app = kind.toLowerCase()
    const names = ['0', '1', '2'].map((index) => `${app}-${index}`)
    let at: readonly [host: string, port: number]
    const stays = async (): Promise<boolean> => {
      const seen = new Set<string>()
      for (let turn = 0; turn < 15; turn += 1) seen.add(await ask(...at))
      return seen.size === 1
    }
    beforeAll(async () => {
      await pods(app, 3)
      const made = await service(app, {
        sessionAffinity: 'ClientIP',
        ...(kind === 'NodePort' ? { type: 'NodePort' } : {}),
      })
      at = kind === 'NodePort' ? ['127.0.0.1', nodePortOf(made)] : [made.spec.clusterIP, 8000]
      await eventually('an answer', () => ask(...at))
    })

    it('should have session affinity work for the service', async () => {
      expect(await stays()).toBe(true)
    })

    it('should be able to switch session affinity for the service', async () => {
      await change(app, { spec: { sessionAffinity: 'None' } })
      await answers(names, ...at)
      await change(app, { spec: { sessionAffinity: 'ClientIP' } })
      await eventually('clients to stay', stays)
    })

    it('should have session affinity timeout work for the service', async () => {
      const sessionAffinityConfig = { clientIP: { timeoutSeconds: 1 } }
      await change(app, { spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig } })
      // On a busy machine there is a second between two questions now and then.
      await eventually('clients to stay', stays)
      const first = await ask(...at)
      await eventually('another pod, after a silence of more than a second', async () => {
        await new Promise((resolve) => setTimeout(resolve, 1100))
        return (await ask(...at)) !== first
      })
    })
  })

  it.each([
    [
      'should implement service.kubernetes.io/service-proxy-name',
      'service.kubernetes.io/service-proxy-name',
      'foo-bar',
    ],
    ['should implement service.kubernetes.io/headless', 'service.kubernetes.io/headless', ''],
  ])('%s', async (_, label, value) => {
    const app = `label-${value === '' ? 'headless' : 'proxy'}`
    await pods(app, 1)
    const { spec } = await service(app)
    await answers([`${app}-0`], spec.clusterIP, 8000)
    await change(app, { metadata: { labels: { [label]: value } } })
    await refuses(spec.clusterIP, 8000)
    await change(app, { metadata: { labels: { [label]: null } } })
    await answers([`${app}-0`], spec.clusterIP, 8000)
  })

  it.each([
    ['endpoints', 'internalTrafficPolicy=Cluster', { internalTrafficPolicy: 'Cluster' }],
    ['local terminating endpoints', 'internalTrafficPolicy=Local', { internalTrafficPolicy: 'Local' }],
    ['endpoints', 'externallTrafficPolicy=Cluster', { type: 'NodePort', externalTrafficPolicy: 'Cluster' }],
    [
      'local terminating endpoints',
      'externalTrafficPolicy=Local',
      { type: 'NodePort', externalTrafficPolicy: 'Local' },
    ],
  ])(
    'should fallback to terminating endpoints when there are no ready endpoints: %s, with %s',
    async (_, policy, spec) => {
      const app = policy.toLowerCase().replace('=', '-')
      await pods(app, 1, 300)
      const made = await service(app, spec)
      const at = ['type' in spec ? '127.0.0.1' : made.spec.clusterIP, 'type' in spec ? nodePortOf(made) : 8000] as const
      await answers([`${app}-0`], ...at)
      await api.call(`${base}/pods/${app}-0`, remove())
      await eventually('the endpoint to be on its way out', async () => {
        const { items } = await api.object(
          `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${app}`,
        )
        const [endpoint] = items.flatMap(({ endpoints }: Any) => endpoints)
        return endpoint?.conditions.terminating && endpoint.conditions.serving && !endpoint.conditions.ready
      })
      for (let turn = 0; turn < 10; turn += 1) expect(await ask(...at)).toBe(`${app}-0`)
      await api.call(`${base}/pods/${app}-0?gracePeriodSeconds=0`, remove())
      await refuses(...at)
    },
  )

  it('should fail health check node port if there are only terminating endpoints', async () => {
    await pods('balanced', 1, 300)
    const { spec } = await service('balanced', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
    const health = async () => {
      const answer = await fetch(`http://127.0.0.1:${spec.healthCheckNodePort}/healthz`, {
        headers: { connection: 'close' },
      })
      return [answer.status, ((await answer.json()) as Any).localEndpoints]
    }
    const tells = (status: number, count: number) =>
      eventually(`${status}`, async () => String(await health()) === String([status, count]))
    await tells(200, 1)
    await api.call(`${base}/pods/balanced-0`, remove())
    await tells(503, 0)
    await api.call(`${base}/pods/balanced-0?gracePeriodSeconds=0`, remove())
  })

  it('leads from the address that a load balancer got, and only clients of its source ranges', async () => {
    await pods('outside', 1)
    await service('outside', { type: 'LoadBalancer', loadBalancerSourceRanges: ['127.0.0.0/30'] })
    const balancer = '127.77.0.9'
    const status = { loadBalancer: { ingress: [{ ip: balancer }] } }
    await api.object(`${base}/services/outside/status`, patch('merge', { status }))
    await answers(['outside-0'], balancer, 8000)
    await change('outside', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } })
    await eventually('clients of other ranges to be turned away', () =>
      ask(balancer, 8000).then(
        () => false,
        ({ code }: NodeJS.ErrnoException) => code === 'ECONNRESET',
      ),
    )
    await change('outside', { spec: { loadBalancerSourceRanges: null, type: 'ClusterIP' } })
    await refuses(balancer, 8000)
  })

  it('should support a Service with multiple endpoint IPs and ports specified in multiple EndpointSlices', async () => {
    const found = await pods('sliced', 2)
    const two = [
      { name: 'one', port: 8001, protocol: 'TCP' },
      { name: 'two', port: 8002, protocol: 'TCP' },
    ]
    const { spec } = await service('by-hand', { selector: undefined, ports: two })
    const targets = { one: 8080, two: 8090 }
    for (const [index, { status }] of found.entries()) {
      for (const [name, port] of Object.entries(targets)) {
        await api.object(
          '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
          post({
            apiVersion: 'discovery.k8s.io/v1',
            kind: 'EndpointSlice',
            metadata: { name: `by-hand-${index}-${name}`, labels: { 'kubernetes.io/service-name': 'by-hand' } },
            addressType: 'IPv4',
            endpoints: [{ addresses: [status.podIP] }],
            ports: [{ name, port, protocol: 'TCP' }],
          }),
        )
      }
    }
    await answers(['sliced-0', 'sliced-1'], spec.clusterIP, 8001)
    await answers(['sliced-0', 'sliced-1'], spec.clusterIP, 8002)
    expect([
      await ask(spec.clusterIP, 8001, { path: '/port' }),
      await ask(spec.clusterIP, 8002, { path: '/port' }),
    ]).toEqual(['8080', '8090'])
  })

  describe('Granular Checks: Services', () => {
    const names = ['granular-0', 'granular-1']
    let made: Any
    let addresses: readonly string[]
    beforeAll(async () => {
      addresses = (await pods('granular', 2)).map(({ status }) => status.podIP)
      made = await service('granular', { type: 'NodePort' })
      await service('granular-too', { selector: { app: 'granular' } })
      await answers(names, made.spec.clusterIP, 8000)
    })
    const protocols = [
      ['http', 0],
      ['udp', 1],
    ] as const

    it.each(protocols)('should function for pod-Service: %s', async (protocol, index) => {
      const seen = new Set<string>()
      for (let turn = 0; turn < 40; turn += 1) {
        seen.add(await fromPod('granular-0', made.spec.clusterIP, 8000, protocol))
        seen.add(await fromPod('granular-1', '127.0.0.1', nodePortOf(made, index), protocol))
      }
      expect([...seen].toSorted()).toEqual(names)
    })

    it.each(protocols)('should function for node-Service: %s', async (protocol, index) => {
      await answers(names, made.spec.clusterIP, 8000, { protocol })
      await answers(names, '127.0.0.1', nodePortOf(made, index), { protocol })
    })

    it.each(protocols)('should function for endpoint-Service: %s', async (protocol) => {
      // An endpoint asks the service that leads to it and to the other.
      const seen = new Set<string>()
      for (let turn = 0; turn < 40; turn += 1)
        seen.add(await fromPod('granular-1', made.spec.clusterIP, 8000, protocol))
      expect([...seen].toSorted()).toEqual(names)
      expect(await ask(addresses[0] ?? '', protocol === 'http' ? 8080 : 8081, { protocol })).toBe('granular-0')
    })

    it('should function for multiple endpoint-Services with same selector', async () => {
      const { spec } = await api.object(`${base}/services/granular-too`)
      await answers(names, spec.clusterIP, 8000)
      await answers(names, made.spec.clusterIP, 8000)
    })

    it.each(protocols)('should be able to handle large requests: %s', async (protocol) => {
      const length = protocol === 'http' ? 2_000_000 : 1500
      expect(await ask(made.spec.clusterIP, 8000, { protocol, body: 'x'.repeat(length) })).toBe(String(length))
    })

    it.each(protocols)('should function for client IP based session affinity: %s', async (protocol) => {
      await change('granular-too', { spec: { sessionAffinity: 'ClientIP' } })
      const { spec } = await api.object(`${base}/services/granular-too`)
      await eventually('clients to stay', async () => {
        const seen = new Set<string>()
        for (let turn = 0; turn < 15; turn += 1) seen.add(await ask(spec.clusterIP, 8000, { protocol }))
        return seen.size === 1
      })
    })

    it('should support basic nodePort: udp functionality', async () => {
      await answers(names, '127.0.0.1', nodePortOf(made, 1), { protocol: 'udp' })
    })

    it('should update nodePort: http and udp', async () => {
      const withoutNodePorts = { spec: { type: 'ClusterIP' } }
      const old = nodePortOf(made)
      made = await change('granular', withoutNodePorts)
      await refuses('127.0.0.1', old)
      made = await change('granular', { spec: { type: 'NodePort' } })
      await answers(names, '127.0.0.1', nodePortOf(made), { protocol: 'http' })
      await answers(names, '127.0.0.1', nodePortOf(made, 1), { protocol: 'udp' })
    })

    it('should update endpoints: http and udp', async () => {
      await api.call(`${base}/pods/granular-0?gracePeriodSeconds=0`, remove())
      await answers(['granular-1'], made.spec.clusterIP, 8000, { protocol: 'http' })
      await answers(['granular-1'], made.spec.clusterIP, 8000, { protocol: 'udp' })
    })
  })

  it('should work after restarting kube-proxy: the program is killed', async () => {
    await pods('kept', 2)
    const { spec } = await service('kept')
    await answers(['kept-0', 'kept-1'], spec.clusterIP, 8000)
    api.close()
    await program.end('SIGKILL')
    await refuses(spec.clusterIP, 8000)
    await start()
    await answers(['kept-0', 'kept-1'], spec.clusterIP, 8000)
  })
})
