import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Containerd, needsContainerd, testImage } from '../packages/kubelet/src/testing/containerd.ts'
import { Api, post, remove } from './support/api.ts'
import { paths, pod } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'

// Containers of a real containerd and runc. Both are started for this test, with all that is theirs in a temporary directory.

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

const { pods } = paths
const lacking = await Containerd.probe()

describe.skipIf(lacking !== undefined)('a node with containerd', needsContainerd(lacking), () => {
  let home: string
  let containerd: Containerd
  let program: Program
  let api: Api

  const start = async () => {
    const args = ['--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint]
    program = await Program.start({
      dataDir: join(home, 'data'),
      args: [...args, '--pod-logs-dir', join(home, 'logs')],
      env: { HOME: home },
    })
    api = await Api.of(program)
  }
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    containerd = await Containerd.start()
    await start()
  })
  afterAll(async () => {
    api?.close()
    await program?.end('SIGINT')
    await containerd?.[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })

  const container = (fields: object = {}) => ({ image: testImage, ...fields })
  const quick = { terminationGracePeriodSeconds: 1 }
  const run = (
    name: string,
    command: readonly string[],
    more: { readonly spec?: object; readonly container?: object } = {},
  ) =>
    api.object(
      pods,
      post(pod(name, command, { spec: { ...quick, ...more.spec }, container: container(more.container) } as Any)),
    )
  const podWhere = (name: string, what: string, suits: (found: Any) => boolean) =>
    eventually(`${name} ${what}`, async () => {
      const found = await api.object(`${pods}/${name}`)
      return suits(found) && found
    })
  const ready = (name: string) =>
    podWhere(name, 'to be ready', ({ status }) => status?.containerStatuses?.every((each: Any) => each.ready) === true)
  const ended = (name: string) =>
    podWhere(name, 'to end', ({ status }) => ['Succeeded', 'Failed'].includes(status?.phase))
  const log = async (name: string, query = '') => (await api.call(`${pods}/${name}/log?${query}`)).text
  const exec = (name: string, ...command: readonly string[]) => program.kubectlOk(['exec', name, '--', ...command])
  const gone = (name: string) =>
    eventually(`${name} to be gone`, async () => (await api.call(`${pods}/${name}`)).code === 404)

  it('says what it is', async () => {
    const node = await api.object('/api/v1/nodes/node-0')
    expect(node.status.nodeInfo.containerRuntimeVersion).toMatch(/^containerd:\/\/1\.\d+\.\d+/)
  })

  it('runs a pod to its end, with its environment, and keeps what it said', async () => {
    const script =
      'echo "hello $WHO from $(hostname)"; echo wrong >&2; echo -n "last words" > /dev/termination-log; exit 3'
    await run('talker', ['sh', '-c', script], {
      spec: { restartPolicy: 'Never' },
      container: { env: [{ name: 'WHO', value: 'world' }] },
    })
    const { status } = await ended('talker')
    expect(status.phase).toBe('Failed')
    const [{ state, containerID, imageID, image }] = status.containerStatuses
    expect(state.terminated).toMatchObject({ exitCode: 3, reason: 'Error', message: 'last words', containerID })
    expect(containerID).toMatch(/^containerd:\/\/[0-9a-f]{64}$/)
    expect(image).toBe(testImage)
    expect(imageID).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect((await log('talker')).split('\n').sort()).toEqual(['', 'hello world from talker', 'wrong'])
  })

  it('runs commands beside it, and shows what it writes as it does', async () => {
    await run('shell', ['sh', '-c', 'while read line; do echo "got $line"; done'], { container: { stdin: true } })
    const { status } = await ready('shell')
    expect(status.podIP).toMatch(/^10\.\d+\.\d+\.\d+$/)
    expect(await exec('shell', 'hostname')).toBe('shell\n')
    const failed = await program.kubectl(['exec', 'shell', '--', 'sh', '-c', 'echo no >&2; exit 5'])
    expect(failed).toMatchObject({ code: 5, stdout: '' })
    expect(failed.stderr).toContain('no\n')
    const piped = await program.kubectl(['exec', '-i', 'shell', '--', 'cat'], { input: 'through\n' })
    expect(piped).toMatchObject({ code: 0, stdout: 'through\n' })
    const attached = program.kubectl(['attach', '-i', 'shell'], { input: 'one\ntwo\n', timeoutMs: 5_000 })
    await eventually('the log', async () => (await log('shell')) === 'got one\ngot two\n')
    await attached
  })

  it('leaves nothing behind of a pod that is deleted', async () => {
    await Promise.all(['talker', 'shell'].map((name) => api.object(`${pods}/${name}?gracePeriodSeconds=0`, remove())))
    await Promise.all(['talker', 'shell'].map(gone))
    await eventually('containers to go', async () => (await containerd.ctr(['containers', 'list', '-q'])) === '')
    expect(containerd.mounts().filter((path) => path.includes('/io.containerd'))).toEqual([])
  })
})
