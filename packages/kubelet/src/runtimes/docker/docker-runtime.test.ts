import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { parseTime } from '@coracle/api'
import { type Environment, realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EngineRefusal, FakeEngine } from '../../testing/fake-engine.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { ImagePullError, type PodSandboxConfig, RuntimeUnavailableError } from '../runtime.ts'
import { splitName } from './images.ts'
import { openDockerRuntime } from './index.ts'
import { pauseProgram } from './pause-program.ts'

async function open(
  engine: FakeEngine,
  options: { readonly infraImage?: string; readonly environment?: Environment } = {},
) {
  const runtime = await openDockerRuntime({
    environment: realEnvironment(),
    endpoint: engine.endpoint,
    directory: join(engine.directory, 'node'),
    podLogsDirectory: join(engine.directory, 'logs'),
    ...options,
  })
  onTestFinished(() => runtime.close())
  return runtime
}

const signal = new AbortController().signal
const never = '0001-01-01T00:00:00Z'
const started = '2026-01-01T00:00:01.5Z'

/** An engine with one container, whose state a test sets. */
function oneContainer() {
  const container = { listed: 'running', inspected: { Status: 'running', Running: true, ExitCode: 0 } as object }
  const labels = {
    'io.kubernetes.pod.uid': 'uid-1',
    'io.kubernetes.container.name': 'main',
    'io.kubernetes.sandbox.id': 's1',
    'io.kubernetes.container.attempt': '2',
    'io.kubernetes.docker.type': 'container',
    'annotation.coracle.dev/image': 'web:1',
  }
  const answers = {
    'GET /containers/json': ({ query }: { readonly query: URLSearchParams }) =>
      query.get('filters')?.includes('type=podsandbox') === true
        ? []
        : [{ Id: 'c1', State: container.listed, Labels: labels, Created: 1, Image: 'x', ImageID: 'sha256:1' }],
    'GET /containers/*/json': () => ({
      Id: 'c1',
      Created: '2026-01-01T00:00:00Z',
      Image: 'sha256:1',
      State: { StartedAt: started, FinishedAt: never, ...container.inspected },
      Config: { Image: 'x', Labels: labels },
      Mounts: [],
    }),
    'GET /images/*/json': () => ({ Id: 'sha256:1', RepoTags: ['web:1'], RepoDigests: ['web@sha256:2'], Size: 1 }),
  }
  return { container, answers }
}

describe('opening an engine', () => {
  it.each([
    ['docker', '1.41', []],
    ['podman', '1.41', [{ Name: 'Podman Engine' }]],
  ])('knows %s by what it says', async (name, ApiVersion, Components) => {
    const engine = await FakeEngine.start({ 'GET /version': () => ({ Version: '4.3.1', ApiVersion, Components }) })
    expect(await open(engine)).toMatchObject({ name, version: '4.3.1', isolates: true })
  })

  it('speaks the oldest version that an engine still knows', async () => {
    const version = { Version: '29.0.0', ApiVersion: '1.52', MinAPIVersion: '1.44' }
    const engine = await FakeEngine.start({ 'GET /version': () => version })
    await (await open(engine)).listContainers()
    expect(engine.asked.at(-1)?.version).toBe('1.44')
  })

  it.each([
    [
      { Version: '19.03.1', ApiVersion: '1.40' },
      /docker 19\.03\.1 at .* speaks version 1\.40 .* 1\.41 is needed: use Docker 20\.10 or/,
    ],
    [{ hello: 'there' }, /is no Docker Engine, nor Podman: name the socket of one/],
  ])('refuses %j', async (version, message) => {
    const engine = await FakeEngine.start({ 'GET /version': () => version })
    await expect(open(engine)).rejects.toThrow(message)
  })

  it('says what to do where nothing listens', async () => {
    const options = { environment: realEnvironment(), directory: temporaryDirectory() }
    await expect(openDockerRuntime({ ...options, endpoint: 'unix:///nowhere.sock' })).rejects.toThrow(
      /no container runtime listens at unix:\/\/\/nowhere\.sock: start it, as with `systemctl start docker` or/,
    )
    await expect(openDockerRuntime({ ...options, endpoint: 'tcp://1.2.3.4:5' })).rejects.toThrow(
      /as in unix:\/\/\/var\/run\/docker\.sock/,
    )
  })
})

describe('the containers of an engine', () => {
  it('are shown as pods know them', async () => {
    const runtime = await open(await FakeEngine.start(oneContainer().answers))
    expect(await runtime.listContainers('uid-1')).toMatchObject([
      {
        id: 'c1',
        sandboxId: 's1',
        podUid: 'uid-1',
        name: 'main',
        attempt: 2,
        image: 'web:1',
        askedImage: 'web:1',
        imageRef: 'web@sha256:2',
        state: 'running',
        startedAtMs: parseTime('2026-01-01T00:00:01Z') + 500,
      },
    ])
  })

  it.each([
    ['Completed', { ExitCode: 0 }],
    ['Error', { ExitCode: 3 }],
    ['OOMKilled', { ExitCode: 137, OOMKilled: true }],
    ['StartError', { ExitCode: 127, StartedAt: never, Status: 'created', Error: 'no such file' }],
  ])('have ended with the reason %s', async (reason, state) => {
    const { container, answers } = oneContainer()
    const ended = { Status: 'exited', Running: false, FinishedAt: '2026-01-01T00:00:09Z', ...state }
    Object.assign(container, { listed: ended.Status, inspected: ended })
    const logs = { 'GET /containers/*/logs': (_: unknown, response: { end(): void }) => void response.end() }
    const runtime = await open(await FakeEngine.start({ ...answers, ...logs }))
    expect(await runtime.listContainers()).toMatchObject([{ state: 'exited', reason, exitCode: state.ExitCode }])
  })

  it('are asked to end as their pod says', async () => {
    const { answers } = oneContainer()
    const inspected = answers['GET /containers/*/json']()
    const Config = { ...inspected.Config, StopSignal: 'SIGRTMIN+3' }
    const engine = await FakeEngine.start({
      ...answers,
      'GET /containers/*/json': () => ({ ...inspected, Config }),
      'POST /containers/create': () => ({ Id: 'c1' }),
    })
    const runtime = await open(engine)
    const config = { name: 'main', attempt: 0, image: 'web:1', command: [], args: [], env: [], mounts: [] }
    await runtime.createContainer('s1', { ...config, messageFromLog: false, stopSignal: 'SIGRTMIN+3' })
    await runtime.createContainer('s1', { ...config, messageFromLog: false })
    const created = engine.asked.filter(({ route }) => route === 'POST /containers/create')
    expect(created.map(({ body }) => body.StopSignal)).toEqual(['SIGRTMIN+3', undefined])
    expect(await runtime.listContainers()).toMatchObject([{ stopSignal: 'SIGRTMIN+3' }])
  })

  it.each([
    ['1.52', '1.44', '1.44'],
    ['1.44', '1.24', '1.44'],
    ['1.52', '1.45', '1.45'],
  ])(
    'have mounts that are read-only with what is below them, by %s of %s to %s',
    async (ApiVersion, MinAPIVersion, spoken) => {
      const { answers } = oneContainer()
      const inspected = answers['GET /containers/*/json']()
      const Mounts = ['/data', '/other'].map((Destination) => ({ Source: '/x', Destination, RW: false }))
      const BindOptions = { ReadOnlyForceRecursive: true }
      const engine = await FakeEngine.start({
        ...answers,
        'GET /version': () => ({ Version: '29.0.0', ApiVersion, MinAPIVersion }),
        'GET /containers/*/json': () => ({
          ...inspected,
          HostConfig: { Mounts: [{ Target: '/data', BindOptions }, { Target: '/other' }] },
          Mounts,
        }),
        'POST /containers/create': () => ({ Id: 'c1' }),
      })
      const runtime = await open(engine)
      const mount = { name: 'data', containerPath: '/data', hostPath: engine.directory, readOnly: true }
      const mounts = [{ ...mount, recursiveReadOnly: true }, mount, { ...mount, readOnly: false }]
      const config = { name: 'main', attempt: 0, image: 'web:1', command: [], args: [], env: [], mounts }
      await runtime.createContainer('s1', { ...config, messageFromLog: false })
      const { body, version } = engine.asked.find(({ route }) => route === 'POST /containers/create') ?? {}
      expect(version).toBe(spoken)
      const options = body.HostConfig.Mounts.map((each: { readonly BindOptions: object }) => each.BindOptions)
      const Propagation = 'rprivate'
      expect(options).toEqual([
        { Propagation, ReadOnlyForceRecursive: true },
        { Propagation, ReadOnlyNonRecursive: true },
        { Propagation },
      ])
      expect(await runtime.listContainers()).toMatchObject([{ recursiveReadOnly: ['/data'] }])
    },
  )

  it('have devices of the node, and those that the engine knows by name', async () => {
    const engine = await FakeEngine.start({
      ...oneContainer().answers,
      'POST /containers/create': () => ({ Id: 'c1' }),
    })
    const runtime = await open(engine)
    const config = { name: 'main', attempt: 0, image: 'web:1', command: [], args: [], env: [], mounts: [] }
    const files = [{ containerPath: '/dev/a', hostPath: '/dev/host-a', permissions: 'rw' }]
    const devices = { files, cdiNames: ['example.com/gpu=0'], annotations: { key: 'value' } }
    await runtime.createContainer('s1', { ...config, devices, messageFromLog: false })
    await runtime.createContainer('s1', { ...config, messageFromLog: false })
    const created = engine.asked.filter(({ route }) => route === 'POST /containers/create')
    expect(created[0]?.body.HostConfig).toMatchObject({
      Devices: [{ PathOnHost: '/dev/host-a', PathInContainer: '/dev/a', CgroupPermissions: 'rw' }],
      DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['example.com/gpu=0'] }],
    })
    expect(created[1]?.body.HostConfig).not.toHaveProperty('Devices')
    expect(created[1]?.body.HostConfig).not.toHaveProperty('DeviceRequests')
  })

  it('are asked for by their agent, and others are left alone', async () => {
    const engine = await FakeEngine.start()
    const runtime = await open(engine)
    await runtime.listContainers('uid-1')
    const { label } = JSON.parse(engine.asked.at(-1)?.query.get('filters') ?? '{}')
    const agent = readFileSync(join(engine.directory, 'node', 'agent-id'), 'utf8').trim()
    expect(label).toEqual(
      expect.arrayContaining([
        'io.kubernetes.docker.type=container',
        `coracle.dev/agent=${agent}`,
        'io.kubernetes.pod.uid=uid-1',
      ]),
    )
  })

  /** A runtime of an engine that tells of containers of a pod of this node what `say` has it tell. */
  const telling = async (answers: Parameters<typeof FakeEngine.start>[0], environment = realEnvironment()) => {
    const { promise: listening, resolve: listen } = Promise.withResolvers<{ write(text: string): void }>()
    const engine = await FakeEngine.start({
      ...answers,
      'GET /events': (_, response) => {
        response.flushHeaders()
        listen(response)
      },
    })
    const runtime = await open(engine, { environment })
    const agent = readFileSync(join(engine.directory, 'node', 'agent-id'), 'utf8').trim()
    const Attributes = { 'coracle.dev/agent': agent, 'io.kubernetes.pod.uid': 'uid-1' }
    const events = await listening
    const say = (Action: string, ID: string) =>
      events.write(`${JSON.stringify({ Action, Actor: { ID, Attributes } })}\n`)
    return { runtime, say }
  }

  it('have ended as soon as that is told, though they are still listed as running', async () => {
    const { container, answers } = oneContainer()
    const logs: Parameters<typeof FakeEngine.start>[0] = {
      'GET /containers/*/logs': (_, response) => void response.end(),
    }
    const real = realEnvironment()
    // Nobody looks again after a while, and no time to wait for the end of a log is ever over.
    const clock = { ...real.clock, setTimer: () => ({ cancel() {} }) }
    const { runtime, say } = await telling({ ...answers, ...logs }, { ...real, clock })
    const told = new Promise((resolve) => runtime.subscribe(resolve))
    expect(await runtime.listContainers()).toMatchObject([{ state: 'running' }])
    container.inspected = { Status: 'exited', Running: false, ExitCode: 0, FinishedAt: started }
    say('die', 'c1')
    expect(await told).toEqual({ containerId: 'c1', podUid: 'uid-1' })
    await expect.poll(async () => (await runtime.listContainers())[0]?.state).toBe('exited')
  })

  it('are as they were after a command, and after others that look at them, and as they are made', async () => {
    const { runtime, say } = await telling(oneContainer().answers)
    const told: string[] = []
    const last = new Promise<void>((resolve) => {
      runtime.subscribe(({ containerId }) => {
        told.push(containerId)
        if (containerId === 'last') resolve()
      })
    })
    const ofDocker = [
      'exec_create: cat /ready',
      'exec_start: cat /ready',
      'exec_die',
      'create',
      'kill',
      'attach',
      'detach',
      'resize',
      'top',
    ]
    const ofPodman = ['init', 'exec', 'exec_died', 'mount', 'unmount', 'sync', 'health_status', 'cleanup']
    for (const action of [...ofDocker, ...ofPodman]) say(action, `after ${action}`)
    for (const action of ['start', 'oom', 'pause', 'destroy']) say(action, action)
    say('die', 'last')
    await last
    expect(told.filter((id) => id !== 'c1')).toEqual(['start', 'oom', 'pause', 'destroy', 'last'])
  })
})

it('an engine is asked where its images are once for as long as it is there', async () => {
  let infos = 0
  const opened = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<ServerResponse>()]
  let watches = 0
  const engine = await FakeEngine.start({
    'GET /info': () => {
      infos += 1
      return { DockerRootDir: '/' }
    },
    'GET /events': (_, response) => {
      response.flushHeaders()
      opened[watches++]?.resolve(response)
    },
  })
  const runtime = await open(engine)
  const events = await opened[0]?.promise
  for (let times = 0; times < 3; times++) expect(await runtime.images?.fileSystem()).toMatchObject({ path: '/' })
  expect(infos).toBe(1)
  events?.destroy()
  await opened[1]?.promise
  await runtime.images?.fileSystem()
  expect(infos).toBe(2)
})

describe('the handlers of an engine', () => {
  const told = async (version: object, info: object) => {
    const answers = {
      'GET /version': () => ({ Version: '1', ...version }),
      // Earlier versions of the API say nothing of what runtimes can do.
      'GET /info': ({ version: spoken }: { readonly version: string }) => (spoken === '1.44' ? info : {}),
    }
    const runtime = await open(await FakeEngine.start(answers))
    await runtime.status?.()
    return runtime.handlers
  }
  const runtime = (...mountOptions: readonly string[]) => ({
    status: { 'org.opencontainers.runtime-spec.features': JSON.stringify({ mountOptions }) },
  })
  const handler = (name: string, recursiveReadOnlyMounts: boolean) => ({
    name,
    features: { recursiveReadOnlyMounts, userNamespaces: false },
  })
  const info = { DefaultRuntime: 'runc', Runtimes: { old: {}, runc: runtime('ro', 'rro'), runsc: runtime('ro') } }

  it.each([
    ['5.12.0-1', true],
    ['6.18.44', true],
    ['5.11.9', false],
    ['', false],
  ])('are its runtimes, which make mounts read-only in depth on Linux %s: %s', async (KernelVersion, can) => {
    const found = await told({ ApiVersion: '1.44' }, { ...info, KernelVersion })
    expect(found).toEqual([handler('', can), handler('old', false), handler('runc', can), handler('runsc', false)])
  })

  it('are not told by one that cannot be asked for more', async () => {
    expect(await told({ ApiVersion: '1.43' }, { ...info, KernelVersion: '6.1.0' })).toEqual([])
  })
})

describe('a sandbox', () => {
  const sandbox: PodSandboxConfig = {
    podUid: 'uid-1',
    podName: 'web',
    podNamespace: 'default',
    attempt: 1,
    hostname: 'web-host',
    hostNetwork: false,
  }
  const created = {
    'POST /containers/create': () => ({ Id: 's1' }),
    'POST /containers/*/start': () => ({}),
    'GET /containers/*/json': () => ({
      Id: 's1',
      Created: started,
      State: { Running: true, Status: 'running', ExitCode: 0, StartedAt: started, FinishedAt: never },
      Config: { Labels: {} },
      NetworkSettings: { Networks: { bridge: { IPAddress: '10.0.0.7', GlobalIPv6Address: 'fd00::7' } } },
    }),
  }

  it('has the addresses that the engine gives it', async () => {
    const engine = await FakeEngine.start({ ...created, 'GET /images/*/json': () => ({ Id: 'sha256:1' }) })
    const runtime = await open(engine, { infraImage: 'pause:1' })
    expect(await runtime.runPodSandbox(sandbox)).toMatchObject({ ready: true, addresses: ['10.0.0.7', 'fd00::7'] })
    const { body, query } = engine.asked.find(({ route }) => route === 'POST /containers/create') ?? {}
    expect(query?.get('name')).toBe('k8s_POD_web_default_uid-1_1')
    expect(body).toMatchObject({ Image: 'pause:1', Hostname: 'web-host', Labels: { 'io.kubernetes.pod.uid': 'uid-1' } })
  })

  it('gets another name where its own is taken', async () => {
    let tries = 0
    const engine = await FakeEngine.start({
      ...created,
      'GET /images/*/json': () => ({ Id: 'sha256:1' }),
      'POST /containers/create': () => {
        tries += 1
        return tries === 1
          ? new EngineRefusal(409, 'Conflict. The container name "/k8s" is already in use')
          : { Id: 's1' }
      },
    })
    await (await open(engine, { infraImage: 'pause:1' })).runPodSandbox(sandbox)
    const names = engine.asked.filter(({ route }) => route.endsWith('/create')).map(({ query }) => query.get('name'))
    expect(names).toEqual([
      'k8s_POD_web_default_uid-1_1',
      expect.stringMatching(/^k8s_POD_web_default_uid-1_1_[0-9a-f]{8}$/),
    ])
  })

  it('says what to do where its image cannot be had', async () => {
    const engine = await FakeEngine.start({
      ...created,
      'GET /images/*/json': () => new EngineRefusal(404, 'No such image'),
      'POST /images/create': (_, response) => void response.end('{"status":"x"}\n{"error":"no such host"}\n'),
    })
    const runtime = await open(engine, { infraImage: 'registry.example/pause:3' })
    await expect(runtime.runPodSandbox(sandbox)).rejects.toThrow(
      /registry\.example\/pause:3 cannot be had: no such host: load it into the engine, or name another with --pod-infra-container-image/,
    )
  })

  it('is removed though somebody removes its containers just then', async () => {
    const gone = new EngineRefusal(404, 'No such container: c1')
    const unlessContainer = ({ route }: { readonly route: string }) => (route.includes('/c1') ? gone : {})
    const engine = await FakeEngine.start({
      ...oneContainer().answers,
      'POST /containers/*/kill': unlessContainer,
      'POST /containers/*/wait': unlessContainer,
      'DELETE /containers/*': unlessContainer,
    })
    const runtime = await open(engine)
    await runtime.removePodSandbox('s1')
    const changes = engine.asked.map(({ route }) => route).filter((route) => !route.startsWith('GET '))
    expect(changes).toEqual([
      'POST /containers/c1/kill',
      'POST /containers/s1/kill',
      'POST /containers/s1/wait',
      'DELETE /containers/c1',
      'DELETE /containers/s1',
    ])
  })

  it('is removed again where it cannot be started', async () => {
    const engine = await FakeEngine.start({
      ...created,
      'GET /images/*/json': () => ({ Id: 'sha256:1' }),
      'POST /containers/*/start': () => new EngineRefusal(500, 'port is already allocated'),
      'DELETE /containers/*': () => ({}),
    })
    await expect((await open(engine, { infraImage: 'pause:1' })).runPodSandbox(sandbox)).rejects.toThrow(
      'rpc error: code = Unknown desc = Error response from daemon: port is already allocated',
    )
    expect(engine.asked.map(({ route }) => route)).toContain('DELETE /containers/s1')
  })
})

describe('images', () => {
  it('are pulled by their name and tag, with the credentials that there are', async () => {
    const engine = await FakeEngine.start({
      'GET /images/*/json': () => ({ Id: 'sha256:1', RepoTags: [], RepoDigests: [], Size: 1 }),
      'POST /images/create': (_, response) => void response.end('{"status":"done"}\n'),
      'GET /images/team': () => ({}),
    })
    const { images } = await open(engine)
    expect(await images?.pull('web:1', { auth: Buffer.from('me:se:cret').toString('base64') }, signal)).toBe('sha256:1')
    const { query, headers } = engine.asked.find(({ route }) => route === 'POST /images/create') ?? {}
    expect([query?.get('fromImage'), query?.get('tag')]).toEqual(['web', '1'])
    const auth = String(headers?.['x-registry-auth'])
    expect(auth.length % 4).toBe(0)
    expect(JSON.parse(Buffer.from(auth, 'base64url').toString())).toMatchObject({ username: 'me', password: 'se:cret' })
  })

  it('that cannot be had are told of in the words of the engine', async () => {
    const engine = await FakeEngine.start({ 'POST /images/create': () => new EngineRefusal(404, 'manifest unknown') })
    await expect((await open(engine)).images?.pull('web', undefined, signal)).rejects.toThrow(
      new ImagePullError('Error response from daemon: manifest unknown'),
    )
  })

  it.each([
    ['web', ['web', 'latest']],
    ['localhost:5000/web', ['localhost:5000/web', 'latest']],
    ['localhost:5000/web:1', ['localhost:5000/web', '1']],
    ['web@sha256:0', ['web@sha256:0', undefined]],
  ])('have names and tags: %s', (name, parts) => {
    expect(splitName(name)).toEqual(parts)
  })
})

describe('what is used', () => {
  it('is what the engine counts of containers and of the networks of sandboxes', async () => {
    const { answers } = oneContainer()
    const labels = { 'io.kubernetes.pod.uid': 'uid-1' }
    const sandboxes = ['s1', 's2', 's3', 's4'].map((Id) => ({ Id, State: 'running', Labels: labels, Created: 1 }))
    const traffic = { rx_bytes: 10, rx_packets: 2, rx_errors: 1, tx_bytes: 20, tx_errors: 0 }
    const stats: Readonly<Record<string, object>> = {
      c1: {
        cpu_stats: { cpu_usage: { total_usage: 2_500_000_000 } },
        memory_stats: { usage: 9, stats: { inactive_file: 4, anon: 3 } },
      },
      s1: { networks: { eth0: traffic } },
      // In the network of its node.
      s2: {},
      // As it is being made or taken down.
      s4: { cpu_stats: null, memory_stats: null, networks: { eth0: null } },
    }
    const engine = await FakeEngine.start({
      ...answers,
      'GET /containers/json': (question) =>
        question.query.get('filters')?.includes('type=container') === true
          ? answers['GET /containers/json'](question)
          : sandboxes,
      ...Object.fromEntries(Object.entries(stats).map(([id, answer]) => [`GET /containers/${id}/stats`, () => answer])),
      // One that ends just then: what is known of the others is told.
      'GET /containers/s3/stats': (_, response) => void response.end(),
    })
    const runtime = await open(engine)
    expect(await runtime.containerStats(['c1'])).toEqual(
      new Map([['c1', { cpuMs: 2500, memoryBytes: 5, memoryUsageBytes: 9, memoryRssBytes: 3 }]]),
    )
    const interfaces = [{ name: 'eth0', received: { bytes: 10, errors: 1 }, sent: { bytes: 20, errors: 0 } }]
    expect(await runtime.podSandboxStats?.()).toEqual(
      new Map<string, object>([
        ['s1', { interfaces }],
        ['s2', {}],
        ['s3', {}],
        ['s4', { interfaces: [{ name: 'eth0', received: { bytes: 0, errors: 0 }, sent: { bytes: 0, errors: 0 } }] }],
      ]),
    )
  })
})

it.each([null, undefined])('has nothing where an engine answers lists with %s', async (nothing) => {
  const list = nothing === undefined ? (_: unknown, response: ServerResponse) => void response.end() : () => nothing
  const runtime = await open(
    await FakeEngine.start({
      ...oneContainer().answers,
      'GET /containers/json': list,
      'GET /images/json': list,
      'GET /networks': list,
    }),
  )
  expect(await runtime.listContainers()).toEqual([])
  expect(await runtime.images?.list()).toEqual([])
  expect((await runtime.status?.())?.networkProblem).toContain('NetworkPluginNotReady')
})

it('takes no container for gone of which an engine says nothing at all', async () => {
  const { answers } = oneContainer()
  const runtime = await open(await FakeEngine.start({ ...answers, 'GET /containers/c1/json': () => null }))
  await expect(runtime.listContainers('uid-1')).rejects.toThrow('the engine says nothing of container c1')
})

describe('an engine that goes away', () => {
  it('is missed, and taken up again when it is back', async () => {
    const engine = await FakeEngine.start(oneContainer().answers)
    const runtime = await open(engine)
    await engine.stop()
    await expect(runtime.listContainers()).rejects.toThrow(RuntimeUnavailableError)
    expect(await runtime.status?.()).toEqual({ problems: ['container runtime is down'] })
    await engine.start()
    expect(await runtime.status?.()).toEqual({ problems: [] })
    expect(await runtime.listContainers()).toHaveLength(1)
  })

  it('is not ready without a network for pods', async () => {
    const runtime = await open(await FakeEngine.start({ 'GET /networks': () => [{ Name: 'none' }] }))
    expect((await runtime.status?.())?.problems).toEqual([
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:docker has no network "bridge": start it with one',
    ])
  })
})

describe('the program that sandboxes run', () => {
  const own = pauseProgram(process.arch)

  it.skipIf(own === undefined || process.platform !== 'linux')('waits until it is killed', async () => {
    const path = join(temporaryDirectory(), 'pause')
    await writeFile(path, own ?? '')
    await chmod(path, 0o755)
    const child = spawn(path)
    await once(child, 'spawn')
    // It sleeps in the kernel, and not in a loop of its own.
    const ignores = () => /SigIgn:\s*(\w+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
    await expect.poll(ignores).toBe('0000000000010000')
    expect(child.exitCode).toBe(null)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
  })

  it('is there for the machines of servers', () => {
    expect(['x64', 'arm64', 'mips'].map((arch) => pauseProgram(arch)?.length)).toEqual([
      expect.any(Number),
      expect.any(Number),
      undefined,
    ])
  })
})
