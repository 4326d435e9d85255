import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { realEnvironment, seededRandom } from '@coracle/environment'
import { status } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Answers, FakeCri, failure } from '../../testing/fake-cri.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import {
  type ContainerConfig,
  ContainerConfigError,
  type ContainerIsolation,
  ImagePullError,
  type PodSandboxConfig,
  RuntimeUnavailableError,
  type SandboxIsolation,
} from '../runtime.ts'
import { lackOfImageVolumes } from './image-volumes.ts'
import { containerStates } from './messages.ts'
import { openCriRuntime } from './open-cri-runtime.ts'
import { parseInterfaces } from './sandbox-traffic.ts'

const linux = process.platform === 'linux'
const needsLinux = { meta: { needs: 'Linux' } }

const labels = {
  'io.kubernetes.pod.uid': 'uid-1',
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
}
const metadata = { uid: 'uid-1', name: 'web', namespace: 'default', attempt: 0 }

async function open(fake: FakeCri, environment = realEnvironment()) {
  const runtime = await openCriRuntime({
    environment,
    endpoint: fake.endpoint,
    directory: join(fake.directory, 'node'),
    podLogsDirectory: join(fake.directory, 'logs'),
  })
  onTestFinished(() => runtime.close())
  return runtime
}

/** A runtime that has one sandbox with one container, whose state a test sets. */
function oneContainer() {
  const container = { state: containerStates.running as number, exitCode: 0, reason: '', message: '' }
  const answers: Answers = {
    listPodSandbox: () => ({ items: [{ id: 's1', metadata, state: 0, createdAt: 1e15, labels }] }),
    podSandboxStatus: () => ({
      status: { id: 's1', metadata, state: 0, network: { ip: '10.0.0.7' }, createdAt: 1e15 },
    }),
    listContainers: () => ({
      containers: [{ id: 'c1', podSandboxId: 's1', metadata: { name: 'main' }, state: container.state, labels }],
    }),
    containerStatus: () => ({
      status: {
        ...container,
        id: 'c1',
        metadata: { name: 'main', attempt: 2 },
        createdAt: 1e15,
        startedAt: 2e15,
        finishedAt: container.state === containerStates.exited ? 3e15 : 0,
        image: { image: 'docker.io/library/web:1' },
        imageRef: 'sha256:1',
        labels,
        annotations: { 'coracle.dev/image': 'web:1' },
      },
    }),
  }
  return { container, answers }
}

describe('opening a container runtime', () => {
  it('gives one that is known by its own name', async () => {
    expect(await open(await FakeCri.start())).toMatchObject({ name: 'fake', version: '1.2.3', runsProcesses: true })
  })

  it.each([
    ['tcp://1.2.3.4:5', /no endpoint of a container runtime: give the path of its socket/],
    ['unix:///nowhere/there.sock', /no container runtime listens at unix:\/\/\/nowhere\/there\.sock: start it/],
    ['unix:///etc/passwd', /\/etc\/passwd is not a socket/],
  ])('refuses %s', async (endpoint, message) => {
    const options = { environment: realEnvironment(), endpoint, directory: temporaryDirectory() }
    await expect(openCriRuntime(options)).rejects.toThrow(message)
  })

  it('refuses one of another kind', async () => {
    const fake = await FakeCri.start({ version: () => failure(status.UNIMPLEMENTED, 'unknown service runtime.v1') })
    await expect(open(fake)).rejects.toThrow(/CRI v1 runtime API .* code = Unimplemented desc = unknown service/)
  })

  it('asks for what is its own alone, also in its next life', async () => {
    const { answers } = oneContainer()
    const fake = await FakeCri.start(answers)
    const agents = new Set<string>()
    for (const _ of [1, 2]) {
      const runtime = await open(fake)
      await runtime.listContainers('uid-1')
      const selectors = fake.asked
        .filter(({ name }) => name === 'listContainers')
        .map(({ request }) => request.filter.labelSelector)
      const labelSelector = selectors.findLast((each) => each['io.kubernetes.pod.uid'] === 'uid-1')
      agents.add(labelSelector['coracle.dev/agent'])
      await runtime.close()
    }
    expect(agents.size).toBe(1)
  })
})

describe('the containers of a runtime', () => {
  it('are shown with the names that pods give their images', async () => {
    const { answers } = oneContainer()
    const runtime = await open(await FakeCri.start(answers))
    expect(await runtime.listContainers('uid-1')).toMatchObject([
      {
        id: 'c1',
        sandboxId: 's1',
        podUid: 'uid-1',
        name: 'main',
        attempt: 2,
        image: 'docker.io/library/web:1',
        askedImage: 'web:1',
        imageRef: 'sha256:1',
        state: 'running',
        startedAtMs: 2e9,
      },
    ])
    expect(await runtime.listPodSandboxes('uid-1')).toMatchObject([
      { id: 's1', podUid: 'uid-1', ready: true, addresses: ['10.0.0.7'], createdAtMs: 1e9 },
    ])
  })

  it('are asked about once for each state that they are in', async () => {
    const { answers, container } = oneContainer()
    const fake = await FakeCri.start(answers)
    const runtime = await open(fake)
    const asked = () => fake.asked.filter(({ name }) => name === 'containerStatus').length
    await runtime.listContainers()
    await runtime.listContainers()
    expect(asked()).toBe(1)
    Object.assign(container, { state: containerStates.exited, exitCode: 137, reason: 'OOMKilled' })
    expect(await runtime.listContainers()).toMatchObject([{ state: 'exited', exitCode: 137, reason: 'OOMKilled' }])
    expect(asked()).toBe(2)
  })

  it('that nobody knows any more have ended', async () => {
    const { answers, container } = oneContainer()
    const runtime = await open(await FakeCri.start(answers))
    container.state = containerStates.unknown
    expect(await runtime.listContainers()).toMatchObject([{ state: 'exited', reason: 'ContainerStatusUnknown' }])
  })

  it('are all listed where the runtime can tell nothing of one, unless that one is asked for', async () => {
    const { answers } = oneContainer()
    const odd = { id: 'c2', podSandboxId: 's2', metadata: { name: 'odd' }, state: containerStates.running, labels }
    const runtime = await open(
      await FakeCri.start({
        ...answers,
        listPodSandbox: () => ({ items: ['s1', 's2'].map((id) => ({ id, metadata, state: 0, labels })) }),
        podSandboxStatus: ({ podSandboxId }) =>
          podSandboxId === 's2' ? failure(status.UNKNOWN, 'odd') : (answers.podSandboxStatus?.({ podSandboxId }) ?? {}),
        listContainers: () => ({ containers: [{ id: 'c1', podSandboxId: 's1', state: 1, labels }, odd] }),
        containerStatus: ({ containerId }) =>
          containerId === 'c2' ? failure(status.UNKNOWN, 'odd') : (answers.containerStatus?.({ containerId }) ?? {}),
      }),
    )
    expect(await runtime.listContainers()).toMatchObject([
      { id: 'c1', imageRef: 'sha256:1' },
      { id: 'c2', sandboxId: 's2', podUid: 'uid-1', name: 'odd', state: 'running' },
    ])
    expect(await runtime.listPodSandboxes()).toMatchObject([
      { id: 's1', addresses: ['10.0.0.7'] },
      { id: 's2', addresses: [] },
    ])
    await expect(runtime.listContainers('uid-1')).rejects.toThrow('odd')
    await expect(runtime.listPodSandboxes('uid-1')).rejects.toThrow('odd')
  })

  it('are told of when they end, by looking where the runtime does not tell', async () => {
    const { answers, container } = oneContainer()
    const fake = await FakeCri.start(answers)
    const runtime = await open(fake)
    const ended = new Promise((resolve) =>
      runtime.subscribe((event) => {
        if (event.containerId === 'c1' && container.state === containerStates.exited) resolve(event)
      }),
    )
    await expect.poll(() => fake.asked.filter(({ name }) => name === 'listContainers').length).toBeGreaterThan(0)
    container.state = containerStates.exited
    expect(await ended).toEqual({ podUid: 'uid-1', containerId: 'c1' })
  })

  it('are told of as the runtime does, where it does', async () => {
    const { answers } = oneContainer()
    const fake = await FakeCri.start(answers, { tells: true })
    const runtime = await open(fake)
    await expect.poll(() => fake.hasListeners).toBe(true)
    const told = new Promise((resolve) =>
      runtime.subscribe((event) => {
        if (event.containerId === 'c9') resolve(event)
      }),
    )
    fake.tell({ containerId: 'c9', podSandboxStatus: { metadata: { uid: 'uid-9' } } })
    expect(await told).toEqual({ podUid: 'uid-9', containerId: 'c9' })
  })

  it('can be stopped and removed though they are gone', async () => {
    const gone = () => failure(status.NOT_FOUND, 'gone')
    const runtime = await open(
      await FakeCri.start({ stopContainer: gone, removeContainer: gone, containerStatus: gone }),
    )
    await runtime.stopContainer('c1', 1_500)
    await runtime.removeContainer('c1')
  })

  it('are given whole seconds to stop, and at least what was asked', async () => {
    const fake = await FakeCri.start({ stopContainer: () => ({}) })
    const runtime = await open(fake)
    for (const timeoutMs of [0, 1_500, 2_000]) await runtime.stopContainer('c1', timeoutMs)
    const stops = fake.asked.filter(({ name }) => name === 'stopContainer')
    expect(stops.map(({ request }) => request.timeout)).toEqual([0, 2, 2])
  })
})

describe('a sandbox', () => {
  const sandbox: PodSandboxConfig = {
    podUid: 'uid-1',
    podName: 'web',
    podNamespace: 'default',
    attempt: 0,
    hostname: 'web-host',
    hostNetwork: false,
  }
  const config: ContainerConfig = {
    name: 'main',
    attempt: 1,
    image: 'web:1',
    imageRef: 'sha256:1',
    command: ['run'],
    args: [],
    env: [{ name: 'A', value: 'b' }],
    mounts: [],
    messageFromLog: true,
    terminationMessagePath: '/dev/termination-log',
  }

  it('is shown again to the runtime with each container, by the next node agent too', async () => {
    const { answers } = oneContainer()
    const fake = await FakeCri.start({
      ...answers,
      runPodSandbox: () => ({ podSandboxId: 's1' }),
      createContainer: () => ({ containerId: 'c1' }),
    })
    const first = await open(fake)
    await first.runPodSandbox(sandbox)
    await first.close()
    const second = await open(fake)
    expect(await second.createContainer('s1', config)).toBe('c1')
    const { request } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
    const { request: run } = fake.asked.find(({ name }) => name === 'runPodSandbox') ?? {}
    expect(request.sandboxConfig).toEqual(run.config)
    expect(run.config).toMatchObject({
      hostname: 'web-host',
      logDirectory: join(fake.directory, 'logs', 'default_web_uid-1'),
      labels,
    })
    expect(request.config).toMatchObject({
      metadata: { name: 'main', attempt: 1 },
      image: { image: 'sha256:1', userSpecifiedImage: 'web:1' },
      logPath: 'main/1.log',
      envs: [{ key: 'A', value: 'b' }],
      labels: { ...labels, 'io.kubernetes.container.name': 'main' },
      annotations: { 'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError' },
      mounts: [{ containerPath: '/dev/termination-log' }],
    })
  })

  it.each([
    ['SIGABRT', 1],
    ['SIGUSR1', 29],
    ['SIGRTMIN', 35],
    ['SIGRTMIN+15', 50],
    ['SIGRTMAX-14', 51],
    ['SIGRTMAX', 65],
  ])('has containers that are asked to end with %s', async (stopSignal, number) => {
    const { answers } = oneContainer()
    const known = answers.containerStatus?.({}) as { status: object }
    const fake = await FakeCri.start({
      ...answers,
      createContainer: () => ({ containerId: 'c1' }),
      containerStatus: () => ({ status: { ...known.status, stopSignal: number } }),
    })
    const runtime = await open(fake)
    await runtime.createContainer('s1', { ...config, stopSignal })
    const { request } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
    expect(request.config.stopSignal).toBe(number)
    expect(await runtime.listContainers()).toMatchObject([{ stopSignal }])
  })

  describe('of a pod with users of its own', () => {
    const isolation: SandboxIsolation = {
      ...{ labels: {}, annotations: {}, portMappings: [], sysctls: {}, hostAliases: [], runtimeHandler: '' },
      ...{ supplementalGroups: [], onlyTheseGroups: false, privileged: false, seccomp: { type: 'RuntimeDefault' } },
      namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
      ownUsers: true,
    }
    const ofContainer: ContainerIsolation = {
      ...isolation,
      ...{ readOnlyRootFilesystem: false, noNewPrivileges: false, addCapabilities: [], dropCapabilities: [] },
      ...{ maskedPaths: [], readOnlyPaths: [] },
      resources: { cpuShares: 2, cpuQuota: 0, cpuPeriod: 100_000, memoryLimitBytes: 0, oomScoreAdj: 0 },
    }
    const withContainer = () => ({
      ...oneContainer().answers,
      runPodSandbox: () => ({ podSandboxId: 's1' }),
      createContainer: () => ({ containerId: 'c1' }),
    })
    const usersIn = (context: { readonly namespaceOptions: { readonly usernsOptions: unknown } }) =>
      context.namespaceOptions.usernsOptions

    it('gets some, which its containers and their mounts have too, with the next node agent as well', async () => {
      const fake = await FakeCri.start(withContainer())
      const first = await open(fake)
      await first.runPodSandbox({ ...sandbox, isolation })
      await first.close()
      const second = await open(fake)
      await second.createContainer('s1', { ...config, isolation: ofContainer })
      const { request: run } = fake.asked.find(({ name }) => name === 'runPodSandbox') ?? {}
      const users = usersIn(run.config.linux.securityContext)
      expect(users).toMatchObject({ mode: 0, uids: [{ containerId: 0, length: 65_536 }] })
      const { uids, gids } = users as { readonly uids: readonly { readonly hostId: number }[]; readonly gids: unknown }
      expect(uids[0]?.hostId).toBeGreaterThanOrEqual(65_536)
      expect(gids).toEqual(uids)
      const { request: create } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
      expect(create.sandboxConfig).toEqual(run.config)
      expect(usersIn(create.config.linux.securityContext)).toEqual(users)
      expect(create.config.mounts).toHaveLength(2)
      for (const mount of create.config.mounts) expect(mount).toMatchObject({ uidMappings: uids, gidMappings: uids })
      await second.runPodSandbox({ ...sandbox, attempt: 1, isolation })
      const { request: again } = fake.asked.findLast(({ name }) => name === 'runPodSandbox') ?? {}
      expect(usersIn(again.config.linux.securityContext)).toEqual(users)
    })

    it('has no containers where nobody knows any more which those are', async () => {
      const fake = await FakeCri.start(withContainer())
      const runtime = await open(fake)
      await expect(runtime.createContainer('s1', { ...config, isolation: ofContainer })).rejects.toThrow(
        new ContainerConfigError('which users of the node its pod has is not known any more: delete the pod'),
      )
      expect(fake.asked.some(({ name }) => name === 'createContainer')).toBe(false)
    })

    it('has those of the node where it does not ask for any', async () => {
      const fake = await FakeCri.start(withContainer())
      const runtime = await open(fake)
      await runtime.runPodSandbox({ ...sandbox, isolation: { ...isolation, ownUsers: false } })
      await runtime.createContainer('s1', { ...config, isolation: { ...ofContainer, ownUsers: false } })
      const { request: run } = fake.asked.find(({ name }) => name === 'runPodSandbox') ?? {}
      const { request: create } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
      for (const { linux } of [run.config, create.config])
        expect(usersIn(linux.securityContext)).toEqual({ mode: 2, uids: [], gids: [] })
      expect(create.config.mounts[0].uidMappings).toEqual([])
    })

    it('gives them back when it is gone, though it was never made', async () => {
      let isMade = false
      const fake = await FakeCri.start({
        ...oneContainer().answers,
        listPodSandbox: () => (isMade ? (oneContainer().answers.listPodSandbox?.({}) ?? {}) : {}),
        runPodSandbox: () => failure(status.UNKNOWN, 'no namespaces'),
      })
      const runtime = await open(fake, { ...realEnvironment(), random: seededRandom(1) })
      const run = async () => {
        await expect(runtime.runPodSandbox({ ...sandbox, isolation })).rejects.toThrow('no namespaces')
        const { request } = fake.asked.findLast(({ name }) => name === 'runPodSandbox') ?? {}
        return usersIn(request.config.linux.securityContext)
      }
      const before = await run()
      const files = join(fake.directory, 'node', 'pod-files')
      isMade = true
      await runtime.forgetPod?.('uid-1')
      expect(await readdir(files)).toEqual(['uid-1'])
      isMade = false
      await runtime.forgetPod?.('uid-1')
      expect(await readdir(files)).toEqual([])
      await runtime.forgetPod?.('uid-1')
      expect(await run()).not.toEqual(before)
    })
  })

  it('that is gone leaves no files, not even where the node agent was killed before it had removed them', async () => {
    const { answers } = oneContainer()
    let isThere = true
    const fake = await FakeCri.start({
      ...answers,
      listPodSandbox: () => (isThere ? (answers.listPodSandbox?.({}) ?? {}) : {}),
      runPodSandbox: () => ({ podSandboxId: 's1' }),
    })
    const first = await open(fake)
    await first.runPodSandbox(sandbox)
    await first.close()
    const logs = join(fake.directory, 'logs', 'default_web_uid-1')
    await mkdir(logs, { recursive: true })
    const files = join(fake.directory, 'node', 'pod-files')
    await (await open(fake)).close()
    expect([await readdir(files), existsSync(logs)]).toEqual([['uid-1'], true])
    isThere = false
    await (await open(fake)).close()
    expect([await readdir(files), existsSync(logs)]).toEqual([[], false])
  })

  const files = {
    name: 'files',
    containerPath: '/files',
    image: { image: 'sha256:7', askedImage: 'data:1', path: 'etc' },
    readOnly: true,
  }

  it('has containers with mounts that are read-only with what is below them, which tell so', async () => {
    const { answers } = oneContainer()
    const known = answers.containerStatus?.({}) as { status: object }
    const mounts = [{ containerPath: '/data', recursiveReadOnly: true }, { containerPath: '/other' }]
    const fake = await FakeCri.start({
      ...answers,
      createContainer: () => ({ containerId: 'c1' }),
      containerStatus: () => ({ status: { ...known.status, mounts } }),
    })
    const runtime = await open(fake)
    const data = { name: 'data', containerPath: '/data', hostPath: '/x', readOnly: true }
    const recursive = { recursiveReadOnly: true }
    await runtime.createContainer('s1', {
      ...config,
      mounts: [{ ...data, ...recursive }, { ...files, ...recursive }, data],
    })
    const { request } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
    const asked: { readonly recursiveReadOnly: boolean }[] = request.config.mounts
    expect(asked.slice(0, 3).map(({ recursiveReadOnly }) => recursiveReadOnly)).toEqual([true, true, false])
    expect(await runtime.listContainers()).toMatchObject([{ recursiveReadOnly: ['/data'] }])
  })

  it('has containers with volumes that are images, which stay with them', async () => {
    const { answers } = oneContainer()
    const known = answers.containerStatus?.({}) as { status: object }
    const mounts = [
      { containerPath: '/files', image: { image: 'sha256:7' } },
      { containerPath: '/data', hostPath: '/x' },
    ]
    const fake = await FakeCri.start({
      ...answers,
      version: () => ({ runtimeName: 'containerd', runtimeVersion: 'v2.2.0' }),
      createContainer: () => ({ containerId: 'c1' }),
      containerStatus: () => ({ status: { ...known.status, mounts } }),
    })
    const runtime = await open(fake)
    await runtime.createContainer('s1', { ...config, mounts: [files] })
    const { request } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
    expect(request.config.mounts[0]).toMatchObject({
      containerPath: '/files',
      hostPath: '',
      image: { image: 'sha256:7', userSpecifiedImage: 'data:1' },
      imageSubPath: 'etc',
      readonly: true,
    })
    expect(await runtime.listContainers()).toMatchObject([{ mountedImages: ['sha256:7'] }])
  })

  it('has none with such volumes where the runtime would pass over them', async () => {
    const { answers } = oneContainer()
    const version = () => ({ runtimeName: 'containerd', runtimeVersion: '1.6.20~ds1' })
    const fake = await FakeCri.start({ ...answers, version })
    const runtime = await open(fake)
    await expect(runtime.createContainer('s1', { ...config, mounts: [files] })).rejects.toThrow(
      'volumeMount "files" cannot be mounted at /files: containerd 1.6.20~ds1 mounts no images as volumes: that takes 2.1 or later',
    )
    expect(fake.asked.some(({ name }) => name === 'createContainer')).toBe(false)
  })

  it('has none with parts of images where the runtime would mount all of them', async () => {
    const { answers } = oneContainer()
    const version = () => ({ runtimeName: 'containerd', runtimeVersion: '2.1.9+unknown' })
    const fake = await FakeCri.start({ ...answers, version, createContainer: () => ({ containerId: 'c1' }) })
    const runtime = await open(fake)
    await expect(runtime.createContainer('s1', { ...config, mounts: [files] })).rejects.toThrow(
      'volumeMount "files" cannot be mounted at /files: containerd 2.1.9+unknown mounts no parts of images (subPath) as volumes: that takes 2.2 or later',
    )
    const whole = { ...files, image: { ...files.image, path: '' } }
    expect(await runtime.createContainer('s1', { ...config, mounts: [whole] })).toBe('c1')
  })

  it.each([
    ['containerd', '1.7.28', false],
    ['containerd', '2.0.5', false],
    ['containerd', '2.1.0-beta.0', true],
    ['containerd', '3.0.0', true],
    ['cri-o', '1.30.1', false],
    ['cri-o', '1.31.0', true],
    ['other', '0.1.0', true],
    ['containerd', 'unknown', true],
  ])('of %s %s may have such volumes: %s', (name, version, may) => {
    expect(lackOfImageVolumes(name, version) === undefined).toBe(may)
  })

  it.each([
    ['containerd', '2.1.9', false],
    ['containerd', '2.2.0', true],
    ['cri-o', '1.32.1', false],
    ['cri-o', '1.33.0', true],
    ['other', '0.1.0', true],
  ])('of %s %s may have volumes that are parts of images: %s', (name, version, may) => {
    expect(lackOfImageVolumes(name, version, 'etc') === undefined).toBe(may)
  })

  it('has no containers with volumes that are nowhere', async () => {
    const { answers } = oneContainer()
    const runtime = await open(await FakeCri.start(answers))
    const mounts = [{ name: 'data', containerPath: '/data' }]
    await expect(runtime.createContainer('s1', { ...config, mounts })).rejects.toThrow(ContainerConfigError)
  })
})

describe('what a container says of its end', () => {
  it('is in its file, or else at the end of its log where it has failed and wishes so', async () => {
    const { answers, container } = oneContainer()
    const base = answers.containerStatus?.({}) as { status: object }
    const directory = temporaryDirectory()
    await mkdir(join(directory, 'main'))
    const logPath = join(directory, 'main', '0.log')
    await writeFile(logPath, '2026-01-01T00:00:00Z stdout F from the log\n')
    await writeFile(join(directory, 'words'), '')
    const annotations = {
      'io.kubernetes.container.terminationMessagePath': '/end',
      'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
    }
    const mounts = [{ containerPath: '/end', hostPath: join(directory, 'words') }]
    let volumes: typeof mounts = []
    container.state = containerStates.exited
    const ended = { ...base.status, state: containerStates.exited, exitCode: 1, finishedAt: 3e15 }
    const fake = await FakeCri.start({
      ...answers,
      containerStatus: () => ({ status: { ...ended, logPath, mounts: [...volumes, ...mounts], annotations } }),
    })
    const messageOf = async () => (await (await open(fake)).listContainers())[0]?.message
    expect(await messageOf()).toBe('from the log\n')
    await writeFile(join(directory, 'words'), 'last words')
    expect(await messageOf()).toBe('last words')
    // A volume that is mounted there as well is not what the container sees.
    await writeFile(join(directory, 'secret'), 'of the node')
    await symlink(join(directory, 'secret'), join(directory, 'link'))
    volumes = [{ containerPath: '/end', hostPath: join(directory, 'link') }]
    expect(await messageOf()).toBe('last words')
    await rm(join(directory, 'words'))
    await symlink(join(directory, 'secret'), join(directory, 'words'))
    expect(await messageOf()).toMatch(/^Error on reading termination log .*ELOOP/)
  })
})

describe('images', () => {
  it('that cannot be had are told of in the words of upstream', async () => {
    const fake = await FakeCri.start({ pullImage: () => failure(status.UNKNOWN, 'no such host') })
    const { images } = await open(fake)
    const pulling = images?.pull('web:1', { username: 'me', password: 'x' }, new AbortController().signal)
    await expect(pulling).rejects.toThrow(new ImagePullError('no such host'))
    const { request } = fake.asked.find(({ name }) => name === 'pullImage') ?? {}
    expect(request).toMatchObject({ image: { image: 'web:1' }, auth: { username: 'me', password: 'x' } })
  })
})

describe('what is used', () => {
  it('leaves nothing behind of the containers of a sandbox that was removed', async () => {
    const { answers } = oneContainer()
    let isThere = true
    const fake = await FakeCri.start({
      ...answers,
      containerStatus: (request) =>
        isThere ? (answers.containerStatus?.(request) ?? {}) : failure(status.NOT_FOUND, ''),
      stopPodSandbox: () => ({}),
      removePodSandbox: () => ({}),
      listContainerStats: () => ({
        stats: [{ attributes: { id: 'c1' }, cpu: {}, memory: {} }],
      }),
    })
    const runtime = await open(fake)
    await runtime.listContainers()
    const lookUps = () => fake.asked.filter(({ name, request }) => name === 'containerStatus' && request.verbose).length
    for (let look = 0; look < 2; look += 1) await runtime.containerStats(['c1'])
    expect(lookUps()).toBe(1)
    isThere = false
    await runtime.removePodSandbox('s1')
    await runtime.containerStats(['c1'])
    expect(lookUps()).toBe(2)
  })

  it('is what the runtime counts of containers and sandboxes', async () => {
    const value = (number: number) => ({ value: number })
    const cpu = { usageCoreNanoSeconds: value(2_500_000_000) }
    const fake = await FakeCri.start({
      ...oneContainer().answers,
      listContainerStats: () => ({
        stats: [
          {
            attributes: { id: 'c1' },
            cpu,
            memory: { workingSetBytes: value(5), usageBytes: value(7), rssBytes: value(4) },
            swap: { swapUsageBytes: value(1) },
            writableLayer: { fsId: { mountpoint: '/images' }, usedBytes: value(9), inodesUsed: value(2) },
          },
          { attributes: { id: 'c2' }, cpu, memory: { workingSetBytes: value(6) } },
          { attributes: { id: 'just-started' }, cpu },
          { attributes: { id: 'not-asked-about' }, cpu, memory: {} },
        ],
      }),
      listPodSandboxStats: () => ({
        stats: [
          {
            attributes: { id: 's1' },
            linux: {
              cpu,
              process: { processCount: value(3) },
              network: {
                defaultInterface: { name: 'eth0', rxBytes: value(10), rxErrors: value(1), txBytes: value(20) },
                interfaces: [{ name: 'eth0', rxBytes: value(10) }, { name: 'eth1' }],
              },
            },
          },
        ],
      }),
    })
    const runtime = await open(fake)
    expect(await runtime.containerStats(['c1', 'c2', 'just-started'])).toEqual(
      new Map<string, object>([
        [
          'c1',
          {
            cpuMs: 2500,
            memoryBytes: 5,
            memoryUsageBytes: 7,
            memoryRssBytes: 4,
            memorySwapBytes: 1,
            writableLayer: { mountpoint: '/images', usedBytes: 9, inodesUsed: 2 },
          },
        ],
        ['c2', { cpuMs: 2500, memoryBytes: 6 }],
      ]),
    )
    expect(await runtime.podSandboxStats?.()).toEqual(
      new Map([
        [
          's1',
          {
            cpuMs: 2500,
            processes: 3,
            interfaces: [
              { name: 'eth0', received: { bytes: 10, errors: 1 }, sent: { bytes: 20, errors: 0 } },
              { name: 'eth1', received: { bytes: 0, errors: 0 }, sent: { bytes: 0, errors: 0 } },
            ],
          },
        ],
      ]),
    )
  })

  it('is what the runtime tells of how long tasks have waited', async () => {
    const psi = { some: { total: 4000, avg10: 12.5, avg60: 1, avg300: 0.25 } }
    const [cpu, memory] = [{ usageCoreNanoSeconds: { value: 1 } }, { workingSetBytes: { value: 1 } }]
    const fake = await FakeCri.start({
      ...oneContainer().answers,
      listContainerStats: () => ({
        stats: [{ attributes: { id: 'c1' }, cpu: { ...cpu, psi }, memory: { ...memory, psi }, io: { psi } }],
      }),
      listPodSandboxStats: () => ({ stats: [{ attributes: { id: 's1' }, linux: { cpu, memory, io: { psi } } }] }),
    })
    const runtime = await open(fake)
    const full = { totalNs: 0, avg10: 0, avg60: 0, avg300: 0 }
    const stalls = { some: { totalNs: 4000, avg10: 12.5, avg60: 1, avg300: 0.25 }, full }
    expect((await runtime.containerStats(['c1'])).get('c1')?.pressure).toEqual({
      cpu: stalls,
      memory: stalls,
      io: stalls,
    })
    expect((await runtime.podSandboxStats?.())?.get('s1')?.pressure).toEqual({ io: stalls })
  })

  it.skipIf(!linux)(
    'is what the kernel counts of the network of a sandbox, where the runtime does not',
    needsLinux,
    async () => {
      const told = { pid: process.pid }
      const asked: boolean[] = []
      const { answers } = oneContainer()
      // A sandbox is known by its control group: that of this process stands for it.
      const id = readFileSync('/proc/self/cgroup', 'utf8').split('\n')[0] ?? ''
      const fake = await FakeCri.start({
        ...answers,
        listPodSandbox: () => ({
          items: [id, 'not-its-own'].map((each) => ({ id: each, metadata, state: 0, labels })),
        }),
        podSandboxStatus: ({ podSandboxId, verbose }) => {
          asked.push(verbose)
          return {
            status: { id: podSandboxId, metadata, state: 0, network: { ip: '10.0.0.7' } },
            ...(verbose ? { info: { info: JSON.stringify(told) } } : {}),
          }
        },
      })
      const runtime = await open(fake)
      const names = parseInterfaces(readFileSync('/proc/self/net/dev', 'utf8')).map(({ name }) => name)
      for (let times = 0; times < 2; times++) {
        const stats = (await runtime.podSandboxStats?.()) ?? new Map()
        expect([...stats.keys()]).toEqual([id])
        expect(stats.get(id)?.interfaces?.map(({ name }: { readonly name: string }) => name)).toEqual(names)
      }
      // Which process it is does not change.
      expect(asked.filter((verbose) => verbose)).toHaveLength(2)
    },
  )

  it('is read as the kernel writes it', () => {
    const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       2    0    0    0     0          0         0      100       2    0    0    0     0       0          0
  eth0:    1296      16    1    2    0     0          0         0      796      10    3    0    0     0       0          0
`
    expect(parseInterfaces(text)).toEqual([
      {
        name: 'eth0',
        received: { bytes: 1296, errors: 1, packets: 16, dropped: 2 },
        sent: { bytes: 796, errors: 3, packets: 10, dropped: 0 },
      },
    ])
  })

  it('is not known of sandboxes where the runtime does not count them', async () => {
    const runtime = await open(await FakeCri.start(oneContainer().answers))
    expect(await runtime.podSandboxStats?.()).toEqual(new Map())
  })
})

describe('a runtime that goes away', () => {
  it('is missed, and taken up again when it is back', async () => {
    const { answers } = oneContainer()
    const fake = await FakeCri.start(answers)
    const runtime = await open(fake)
    await runtime.listContainers()
    await fake.stop()
    await expect(runtime.listContainers()).rejects.toThrow(RuntimeUnavailableError)
    expect(await runtime.status?.()).toEqual({ problems: ['container runtime is down'] })
    await fake.start()
    await expect.poll(() => runtime.status?.()).toEqual({ problems: [] })
    expect(await runtime.listContainers()).toHaveLength(1)
  })

  it('tells its handlers, and those that it last had while it runs no containers', async () => {
    let answer: object = {
      runtimeHandlers: [{ features: { recursiveReadOnlyMounts: true, userNamespaces: true } }, { name: 'old' }],
    }
    const runtime = await open(await FakeCri.start({ status: () => answer }))
    const told = async () => {
      await runtime.status?.()
      return runtime.handlers
    }
    const handlers = [
      { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
      { name: 'old', features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
    ]
    expect(await told()).toEqual(handlers)
    answer = { status: { conditions: [{ type: 'RuntimeReady', status: false }] } }
    expect(await told()).toEqual(handlers)
    answer = {}
    expect(await told()).toEqual([])
  })

  it('says what it lacks in the words of upstream', async () => {
    const conditions = [
      { type: 'RuntimeReady', status: true },
      { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: 'cni plugin not initialized' },
    ]
    const runtime = await open(await FakeCri.start({ status: () => ({ status: { conditions } }) }))
    expect((await runtime.status?.())?.problems).toEqual([
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
    ])
  })
})
