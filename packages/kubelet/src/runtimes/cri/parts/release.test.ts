import { join } from 'node:path'
import { realEnvironment } from '@coracle/environment'
import { status } from '@grpc/grpc-js'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Answers, FakeCri, failure } from '../../../testing/fake-cri.ts'
import type { ContainerConfig, Mount } from '../../runtime.ts'
import { CriConnection } from '../connection.ts'
import { CriRuntime } from '../cri-runtime.ts'
import { grpcService } from '../grpc-service.ts'

const config: ContainerConfig = {
  name: 'main',
  attempt: 0,
  image: 'web',
  command: [],
  args: [],
  env: [],
  mounts: [{ name: 'data', containerPath: '/data', hostPath: '/volume/part', volumePath: '/volume' }],
  messageFromLog: false,
}

describe('mounts of parts of volumes, as the runtime is given them,', () => {
  /** What has been done about them, in order. */
  let done: string[]
  beforeEach(() => {
    done = []
  })

  async function open(answers: Answers = {}) {
    const noted = (name: string, answer: object | Error) => () => {
      done.push(name)
      return answer
    }
    const fake = await FakeCri.start({
      podSandboxStatus: () => ({ status: { id: 's1', metadata: { uid: 'u', name: 'web', namespace: 'default' } } }),
      containerStatus: () => failure(status.NOT_FOUND, 'none'),
      createContainer: noted('created', { containerId: 'c1' }),
      startContainer: noted('started', {}),
      removeContainer: noted('removed', {}),
      ...answers,
    })
    const environment = realEnvironment()
    const runtime = new CriRuntime({
      environment,
      service: grpcService(new CriConnection(fake.endpoint, environment.clock), environment.clock),
      name: 'fake',
      version: '1',
      supportsGroupsPolicy: true,
      lackOfImageVolumes: () => undefined,
      agent: 'agent',
      filesDirectory: join(fake.directory, 'files'),
      imageRecordsDirectory: join(fake.directory, 'image-records'),
      logsDirectory: join(fake.directory, 'logs'),
      volumeParts: {
        clear: async () => void done.push('cleared'),
        hold: async ({ mounts }) => {
          done.push('held')
          const held = mounts.map((mount): Mount => ({ ...mount, hostPath: '/held' }))
          return { mounts: held, release: async () => void done.push('released') }
        },
      },
    })
    onTestFinished(() => runtime.close())
    const create = () => runtime.createContainer('s1', config)
    return { runtime, fake, create }
  }

  it('are there until it has started the container', async () => {
    const { runtime, fake, create } = await open()
    await runtime.startContainer(await create())
    expect(done).toEqual(['held', 'created', 'started', 'released'])
    const { request } = fake.asked.find(({ name }) => name === 'createContainer') ?? {}
    expect(request.config.mounts).toMatchObject([{ containerPath: '/data', hostPath: '/held' }])
    await runtime.removeContainer('c1')
    expect(done.slice(4)).toEqual(['removed'])
  })

  it('are no more where it cannot start it', async () => {
    const { runtime, create } = await open({ startContainer: () => failure(status.UNKNOWN, 'no such program') })
    const id = await create()
    await expect(runtime.startContainer(id)).rejects.toThrow('no such program')
    expect(done).toEqual(['held', 'created', 'released'])
  })

  it('are no more where it cannot create it', async () => {
    const { create } = await open({ createContainer: () => failure(status.UNKNOWN, 'no room') })
    await expect(create()).rejects.toThrow('no room')
    expect(done).toEqual(['held', 'released'])
  })

  it('are no more when a container has been removed that was never started', async () => {
    const { runtime, create } = await open()
    await runtime.removeContainer(await create())
    expect(done).toEqual(['held', 'created', 'removed', 'released'])
  })

  it('are no more when a sandbox has been removed with a container that was never started, but those of others', async () => {
    const { runtime, create } = await open({
      listPodSandbox: () => ({ items: [] }),
      stopPodSandbox: () => ({}),
      removePodSandbox: () => ({}),
    })
    await create()
    await runtime.removePodSandbox('s2')
    expect(done).toEqual(['held', 'created'])
    await runtime.removePodSandbox('s1')
    expect(done).toEqual(['held', 'created', 'released'])
  })

  it('are no more when the node agent ends, or begins anew after it was killed', async () => {
    const { runtime, create } = await open()
    await runtime.start()
    await create()
    await runtime.close()
    expect(done).toEqual(['cleared', 'held', 'created', 'released'])
  })
})
