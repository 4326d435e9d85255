import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DirectoryLock, lockDirectory } from '../src/index.ts'
import { withKeptCode } from './kept-code.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const holder = fileURLToPath(new URL('./lock-holder.ts', import.meta.url))

let directory: ReturnType<typeof temporaryDirectory>
let path: string
const children: ChildProcessWithoutNullStreams[] = []
const locks: DirectoryLock[] = []

beforeEach(() => {
  directory = temporaryDirectory()
  path = directory.path
})
afterEach(async () => {
  for (const lock of locks.splice(0)) lock.release()
  await Promise.all(children.splice(0).map(kill))
  directory.remove()
})

const lockHere = (): DirectoryLock => {
  const lock = lockDirectory(path)
  locks.push(lock)
  return lock
}

/** A process that tries to lock the directory, and what it said of it. */
async function lockElsewhere(then = '', wrapper: readonly string[] = []) {
  const [command = '', ...args] = [...wrapper, process.execPath, '--expose-gc', holder, path, then]
  const child = spawn(command, args, { stdio: 'pipe', env: withKeptCode() })
  children.push(child)
  const [said] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, said }
}

async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

const inUse = (owner: string) =>
  `DirectoryInUseError: ${path} is in use by ${owner}; stop that process or choose another directory`

describe('a locked directory', () => {
  it('is refused to others, by the name of who has it', async () => {
    lockHere()
    expect((await lockElsewhere()).said).toBe(inUse(`process ${process.pid}`))
    const { owner, ...other } = JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'))
    writeFileSync(join(path, 'owner.json'), JSON.stringify({ ...other, host: 'web-1' }))
    expect((await lockElsewhere()).said).toBe(inUse(`process ${process.pid} of host web-1`))
    rmSync(join(path, 'owner.json'))
    expect((await lockElsewhere()).said).toBe(inUse('another process'))
  })

  it('is refused to its own process too, which does not lose it by having asked', async () => {
    lockHere()
    expect(() => lockDirectory(path)).toThrow(`is in use by process ${process.pid}`)
    expect((await lockElsewhere()).said).toBe(inUse(`process ${process.pid}`))
  })

  it('stays locked when nobody refers to the lock any more', async () => {
    const { said } = await lockElsewhere('collect-garbage')
    expect(said).toMatch('locked')
    expect(() => lockDirectory(path)).toThrow('is in use')
  })

  it('is free when it is released', async () => {
    const lock = lockHere()
    expect(lock.takenOver).toBe(false)
    lock.release()
    expect(readdirSync(path)).toEqual(['coracle.lock'])
    expect((await lockElsewhere()).said).toMatch('locked')
    // Once is enough: what somebody else has by now is not released.
    lock.release()
    expect(() => lockDirectory(path)).toThrow('is in use')
  })

  it('is free when its process is killed, and who takes it over is told', async () => {
    const { child } = await lockElsewhere()
    await kill(child)
    expect(lockHere().takenOver).toBe(true)
  })

  it('goes to one of many who want it at once', async () => {
    const said = (await Promise.all(Array.from({ length: 8 }, () => lockElsewhere()))).map((each) => each.said)
    expect(said.filter((line) => line.startsWith('locked'))).toHaveLength(1)
    expect(said.filter((line) => line.includes('is in use by'))).toHaveLength(7)
  })

  it('is not inherited by processes that its owner starts', async () => {
    const { child, said } = await lockElsewhere('start-child')
    const inherited = Number(said.split(' ')[1])
    try {
      await kill(child)
      expect(lockHere().takenOver).toBe(true)
      if (process.platform === 'linux') {
        const open = readdirSync(`/proc/${inherited}/fd`).map((fd) => readlinkSync(`/proc/${inherited}/fd/${fd}`))
        expect(open.filter((file) => file.startsWith(path))).toEqual([])
      }
    } finally {
      process.kill(inherited, 'SIGKILL')
    }
  })
})

describe('across PID namespaces', () => {
  it('does not ask whether the process of that id is alive: here it may be none, or another', async () => {
    await lockElsewhere()
    const nobodyHere = 2 ** 22 + 1
    writeFileSync(join(path, 'owner.json'), JSON.stringify({ pid: nobodyHere, host: 'web-1' }))
    expect(() => lockDirectory(path)).toThrow(`is in use by process ${nobodyHere} of host web-1`)
  })

  const unshare = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
  const [command = '', ...args] = [...unshare, 'true']
  const isPermitted = process.platform === 'linux' && spawnSync(command, args).status === 0

  it('holds', async ({ skip }) => {
    skip(!isPermitted, 'this user may not make PID namespaces')
    const { child, said } = await lockElsewhere('', unshare)
    expect(said).toMatch(/^locked \d$/)
    expect(() => lockDirectory(path)).toThrow('is in use by process')
    expect((await lockElsewhere('', unshare)).said).toMatch('is in use by process')
    await kill(child)
    await expect.poll(() => lockHere().takenOver).toBe(true)
    expect((await lockElsewhere('', unshare)).said).toBe(inUse(`process ${process.pid}`))
  })
})
