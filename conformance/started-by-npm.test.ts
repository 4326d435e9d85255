import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isRunning, processesWith } from './support/processes.ts'
import { eventually, runCoracle } from './support/program.ts'

// What is started through npm ends in order when npm ends, however that ends; what was detached on purpose does not.

const root = join(import.meta.dirname, '..')
const flags = ['--port', '0', '--memory', '--runtime', 'simulated']
const bin = join(root, 'node_modules', '.bin', 'coracle')

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'coracle-'))
})
afterEach(async () => {
  for (const { pid } of processesWith('CORACLE_TEST', home)) process.kill(pid, 'SIGKILL')
  await eventually('all to be gone', async () => !processesWith('CORACLE_TEST', home).some(({ pid }) => isRunning(pid)))
  await rm(home, { recursive: true, force: true })
})

/** This environment without what npm, which runs the tests, has put into it. */
const outsideNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))

/** Starts a command in the project's directory, and gathers the lines that it and whatever it starts prints. */
function start(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...outsideNpm, CORACLE_TEST: home, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    // A session of its own, as a terminal has.
    detached: true,
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const said = (what: RegExp) => lines.filter((line) => what.test(line)).length
  return { child, said }
}

/** The running server of a data directory; undefined without one. */
function serverOf(dataDir: string): number | undefined {
  const isServer = (command: readonly string[]) =>
    command[0]?.endsWith('node') === true && command.includes('up') && command.includes(dataDir)
  return processesWith('CORACLE_TEST', home).find(({ command }) => isServer(command))?.pid
}

const ready = /Coracle is ready/

/** Its last word, which may be on its way here yet when it has ended. */
const stopped = /cluster +stopped after \d+ ms/

describe('a server that npm runs', () => {
  const ways = {
    'npx coracle up': ['npx', 'coracle', 'up'],
    'npm start': ['npm', 'start', '--'],
  } as const
  it.each([
    ['npx coracle up', 'SIGTERM'],
    ['npx coracle up', 'SIGKILL'],
    ['npm start', 'SIGTERM'],
    ['npm start', 'SIGKILL'],
  ] as const)('ends in order when npm does: %s, %s', async (way, signal) => {
    const dataDir = join(home, 'data')
    const [command, ...args] = ways[way]
    const { child, said } = start(command, [...args, ...flags, '--data-dir', dataDir])
    await eventually('the server', async () => said(ready) === 1)
    const pid = serverOf(dataDir)
    expect(pid).toBeDefined()
    expect(pid).not.toBe(child.pid)
    child.kill(signal)
    await eventually('the server to end', async () => !isRunning(pid ?? 0))
    await expect.poll(() => said(stopped)).toBe(1)
  })

  it('does not end when it was put into a session of its own', async () => {
    const [detached, attached] = [join(home, 'detached'), join(home, 'attached')]
    const up = (dataDir: string) => ['coracle', 'up', ...flags, '--data-dir', dataDir].join(' ')
    const { child, said } = start('npx', ['-c', `setsid ${up(detached)} & ${up(attached)}`])
    await eventually('both servers', async () => said(ready) === 2)
    const [kept = 0, ended = 0] = [serverOf(detached), serverOf(attached)]
    child.kill('SIGTERM')
    await eventually('the one to end', async () => !isRunning(ended))
    // Both look for npm equally often, and the one that has ended took its time to stop.
    expect(isRunning(kept)).toBe(true)
    process.kill(kept, 'SIGTERM')
    await eventually('the other to end when it is told to', async () => !isRunning(kept))
    await expect.poll(() => said(stopped)).toBe(2)
  })
})

describe('a server that a shell has left behind', () => {
  it('goes on, and with nohup when the terminal is closed too', async () => {
    const dataDir = join(home, 'data')
    // `_` is how bash and zsh tell a command what it was started as.
    const script = `_=/usr/bin/nohup; export _; nohup ${bin} up ${flags.join(' ')} --data-dir ${dataDir} & exit 0`
    const { child, said } = start('sh', ['-c', script])
    await eventually('the server', async () => said(ready) === 1)
    const pid = serverOf(dataDir) ?? 0
    await eventually('the shell to have ended', async () => child.exitCode === 0)
    process.kill(pid, 'SIGHUP')
    // Without pods it would have ended long before the command below has started.
    const kubeconfig = join(dataDir, 'kubeconfig')
    expect((await runCoracle(['get', 'nodes', '-o', 'name', '--kubeconfig', kubeconfig])).stdout).toBe('node/node-0\n')
    process.kill(pid, 'SIGTERM')
    await eventually('the server to end', async () => !isRunning(pid))
    await expect.poll(() => said(stopped)).toBe(1)
  })
})
