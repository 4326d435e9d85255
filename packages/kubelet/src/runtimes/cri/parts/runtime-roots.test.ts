import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../../testing/temporary-directory.ts'
import { canMount } from '../../../volumes/memory-volume.ts'
import { isRuntime, parseListening, RuntimeRoots } from './runtime-roots.ts'

it('reads which sockets take connections at a path', () => {
  const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000003 00000000 00000000 0001 03 35413 /run/containerd/containerd.sock
0000000000000000: 00000002 00000000 00010000 0001 01   404 /run/containerd/containerd.sock
0000000000000000: 00000002 00000000 00010000 0001 01 31231 @/abstract
0000000000000000: 00000002 00000000 00010000 0001 01 31232
0000000000000000: 00000002 00000000 00010000 0005 01 18123 /run/with blank
`
  expect(parseListening(text)).toEqual([
    { inode: '404', path: '/run/containerd/containerd.sock' },
    { inode: '18123', path: '/run/with blank' },
  ])
})

describe('what serves a socket', () => {
  it.each<[who: string, servers: readonly [pid: number, program: string][], expected: boolean]>([
    ['a runtime', [[7, 'crio']], true],
    [
      'one whose socket was opened for it',
      [
        [1, 'systemd'],
        [7, 'dockerd'],
      ],
      true,
    ],
    ['one that is the first process', [[1, 'podman']], true],
    ['one that is yet to be started', [[1, 'systemd']], false],
    [
      'one, and something else',
      [
        [7, 'containerd'],
        [8, 'proxy'],
      ],
      false,
    ],
    ['nobody', [], false],
  ])('is a runtime here, or may not be: %s', (_who, servers, expected) => {
    expect(isRuntime(servers.map(([pid, program]) => ({ pid, program })))).toBe(expected)
  })
})

describe.skipIf(!(await canMount()))('the processes of a runtime', { meta: { needs: 'root on Linux' } }, () => {
  /** A program of a name that listens at a socket. */
  async function startServer(socket: string, name: string, before: readonly string[] = []) {
    const script = `process.title = '${name}'; require('node:net').createServer().listen('${socket}', () => console.log())`
    const [program = '', ...args] = [...before, process.execPath, '-e', script]
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const stop = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    onTestFinished(stop)
    await once(child.stdout, 'data')
    return { root: `/proc/${child.pid}/root`, stop }
  }

  const socketIn = (directory: string) => join(directory, 'runtime.sock')

  it('are those that serve its socket, by whatever path', async () => {
    const directory = temporaryDirectory()
    const link = join(directory, 'link')
    symlinkSync(directory, link)
    const { root } = await startServer(socketIn(link), 'containerd')
    for (const path of [directory, link]) expect(await new RuntimeRoots(socketIn(path)).find()).toEqual([root])
  })

  it('are others when it has been started again', async () => {
    const socket = socketIn(temporaryDirectory())
    const roots = new RuntimeRoots(socket)
    const first = await startServer(socket, 'dockerd')
    expect(await roots.find()).toEqual([first.root])
    await first.stop()
    expect(await roots.find()).toBeUndefined()
    rmSync(socket, { force: true })
    const second = await startServer(socket, 'dockerd')
    expect(await roots.find()).toEqual([second.root])
  })

  it('cannot be told where what serves it may pass it on', async () => {
    const socket = socketIn(temporaryDirectory())
    await startServer(socket, 'proxy')
    expect(await new RuntimeRoots(socket).find()).toBeUndefined()
  })

  it('cannot be told where users of its own may look into nothing of root’s', async () => {
    const socket = socketIn(temporaryDirectory())
    await startServer(socket, 'dockerd', ['unshare', '--user', '--map-root-user'])
    expect(await new RuntimeRoots(socket).find()).toBeUndefined()
  })

  it('are all that listen at its path, though some are reached no more', async () => {
    const socket = socketIn(temporaryDirectory())
    const { root: first } = await startServer(socket, 'containerd')
    renameSync(socket, `${socket}.old`)
    const { root: second } = await startServer(socket, 'containerd')
    expect((await new RuntimeRoots(socket).find())?.toSorted()).toEqual([first, second].toSorted())
  })

  it('are not those that listen at its path in file systems, or as users, of their own', async () => {
    const directory = temporaryDirectory()
    const socket = socketIn(directory)
    const { root } = await startServer(socket, 'containerd')
    const script = `mount -t tmpfs tmpfs ${directory} && exec "$@"`
    await startServer(socket, 'containerd', ['unshare', '--mount', 'sh', '-c', script, 'hiding'])
    await startServer(socket, 'proxy', ['unshare', '--mount', 'sh', '-c', script, 'hiding'])
    renameSync(socket, `${socket}.old`)
    await startServer(socket, 'proxy', ['unshare', '--user', '--map-root-user'])
    rmSync(socket)
    renameSync(`${socket}.old`, socket)
    expect(await new RuntimeRoots(socket).find()).toEqual([root])
  })
})
