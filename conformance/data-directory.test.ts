import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Api, post } from './support/api.ts'
import { paths, pod } from './support/objects.ts'
import { isRunning, processesWith } from './support/processes.ts'
import { eventually, Program, runCoracle } from './support/program.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'coracle-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const simulated = ['--runtime', 'simulated']
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** What `coracle up` says that refuses to start: one line, on standard error. */
async function refusal(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCoracle(['up', '--port', '0', ...simulated, ...args])
  expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2])
  return stderr.trimEnd()
}

/** Starts two pods, one of which takes its time to end, and returns the processes that stay as long as they do. */
async function startPods(program: Program, mark: string): Promise<readonly number[]> {
  const api = await Api.of(program)
  const environment = { container: { env: [{ name: 'CORACLE_TEST', value: mark }] } }
  const slow = ['sh', '-c', 'trap "sleep 1; exit 0" TERM; sleep 600 & wait']
  await api.object(paths.pods, post(pod('quick', ['sleep', '600'], environment)))
  await api.object(paths.pods, post(pod('slow', slow, environment)))
  await eventually('both pods to run', async () => {
    const { items } = await api.object(paths.pods)
    // biome-ignore lint/suspicious/noExplicitAny: an object of any kind
    return items.every(({ status }: any) => status.containerStatuses?.[0]?.ready)
  })
  api.close()
  return processesWith('CORACLE_TEST', mark).map(({ pid }) => pid)
}

describe('a data directory that is in use', () => {
  it.each([
    ['--memory', []],
    ['on disk', ['--memory']],
  ])('is refused to a second server, whatever store they have (first %s)', async (name, args) => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir, args: name === '--memory' ? [name] : [] })
    const pids = await startPods(program, dataDir)
    const kubeconfig = await readFile(program.kubeconfig, 'utf8')
    expect(await refusal(['--data-dir', dataDir, ...args])).toBe(
      `error: ${dataDir} is in use by process ${program.pid}: stop that with \`coracle down --data-dir ${dataDir}\`, or choose another directory with --data-dir`,
    )
    expect(await readFile(program.kubeconfig, 'utf8')).toBe(kubeconfig)
    expect(pids.filter(isRunning)).toEqual(pids)
    expect((await program.kubectlOk(['get', 'pods', '-o', 'name'])).split('\n')).toHaveLength(3)
  })

  it('ends the program when it is removed, with its pods, and is not made again', async () => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir })
    const pids = await startPods(program, dataDir)
    expect(pids.length).toBeGreaterThanOrEqual(2)
    await rm(dataDir, { recursive: true })
    expect(await program.ended()).toBe(1)
    expect(program.output.at(-1)).toBe(
      `error: ${dataDir} was removed or replaced while it was in use: nothing more can be kept there`,
    )
    expect(pids.filter(isRunning)).toEqual([])
    expect(await readdir(home)).toEqual([])
  })
})

describe('a data directory whose store is missing', () => {
  it('is not taken for a new one', async () => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir, args: simulated })
    await program.end('SIGINT')
    await rm(join(dataDir, 'store'), { recursive: true })
    expect(await refusal(['--data-dir', dataDir])).toBe(
      `error: the store of the cluster in ${dataDir} is missing: restore ${join(dataDir, 'store')} from a backup, ` +
        `or remove ${join(dataDir, 'store.made')} to go on with an empty one under the same keys, ` +
        `or ${dataDir} to start afresh`,
    )
  })
})

describe('a directory that was there before', () => {
  it.each(['0', '077'])(
    'keeps its mode, and all that is put into it is for its owner alone, with umask %s',
    async (umask) => {
      const dataDir = join(home, 'data')
      await mkdir(dataDir)
      await chmod(dataDir, 0o755)
      await using program = await Program.start({ dataDir, umask })
      await startPods(program, dataDir)
      expect(await modeOf(dataDir)).toBe('755')
      const modes = await Promise.all(
        (await readdir(dataDir, { withFileTypes: true })).map(async (entry) => [
          entry.name,
          entry.isDirectory(),
          await modeOf(join(dataDir, entry.name)),
        ]),
      )
      expect(modes.map(([name]) => name).sort()).toEqual([
        'coracle.lock',
        'kubeconfig',
        'kubelet',
        'owner.json',
        'pki',
        'server.json',
        'store',
        'store.made',
        'token',
      ])
      for (const [name, isDirectory, mode] of modes) expect([name, mode]).toEqual([name, isDirectory ? '700' : '600'])
      for (const directory of ['pki', 'store']) {
        for (const name of await readdir(join(dataDir, directory))) {
          expect([name, await modeOf(join(dataDir, directory, name))]).toEqual([name, '600'])
        }
      }
    },
  )
})

describe('a server on all addresses', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

  /** Starts it on such addresses, and looks at its nodes. Returns the line it printed when it was ready. */
  async function used(host: string): Promise<string> {
    await using program = await Program.start({ args: ['--memory', '--listen', host, ...simulated] })
    expect(await program.kubectlOk(['get', 'nodes', '-o', 'name'])).toBe('node/node-0\n')
    return program.readyLine
  }

  it('writes a kubeconfig that kubectl can use: 0.0.0.0', async () => {
    expect(await used('0.0.0.0')).toMatch(/https:\/\/127\.0\.0\.1:\d+ /)
  })

  it.skipIf(!hasIpv6)('writes a kubeconfig that kubectl can use: ::', { meta: { needs: 'IPv6' } }, async () => {
    expect(await used('::')).toMatch(/https:\/\/\[::1\]:\d+ /)
  })
})
