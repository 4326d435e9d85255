import { spawnSync } from 'node:child_process'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { type HostProcess, hostProcesses, psProcesses } from './host-processes.ts'
import { npmProcess, onNpmEnd } from './npm-process.ts'

const underNpm = { npm_lifecycle_event: 'start', npm_execpath: '/usr/lib/node_modules/npm/bin/npm-cli.js' }
const coracle = 'node\0/app/node_modules/.bin/coracle\0up\0'
const sh = 'sh\0-c\0coracle up\0'

/** Processes that come one from the other, the first from none; each a command, or with the session it begins. */
function processTable(...commands: readonly (string | { readonly session: string; readonly command: string })[]) {
  let session = '1'
  const processes = commands.map((each, index): HostProcess => {
    if (typeof each !== 'string') session = each.session
    const command = typeof each === 'string' ? each : each.command
    return { pid: index + 1, parent: index, session, started: 'at once', command }
  })
  return {
    last: processes.length,
    read: (pid: number) => processes[pid - 1],
    isAlive: ({ pid }: HostProcess) => processes[pid - 1] !== undefined,
  }
}

const npmOf = (table: ReturnType<typeof processTable>, variables: Readonly<Record<string, string>> = underNpm) =>
  npmProcess(variables, table.last, table)?.pid

describe('the npm that runs a process', () => {
  it.each([
    'npm start --port 0',
    'npm exec coracle up\0',
    'node\0/usr/bin/npm\0start\0',
    '/usr/bin/node\0/usr/lib/node_modules/npm/bin/npm-cli.js\0start\0',
    '/usr/bin/node\0/usr/lib/node_modules/npm/bin/npx-cli.js\0coracle\0',
    'node\0/usr/lib/node_modules/pnpm/bin/pnpm.cjs\0start\0',
    'node\0/usr/bin/yarn\0start\0',
  ])('is %j', (npm) => {
    expect(npmOf(processTable('init', 'bash', npm, sh, coracle))).toBe(3)
    expect(npmOf(processTable('init', 'bash', npm, coracle))).toBe(3)
  })

  it('is found through what npm runs in turn, and is the nearest', () => {
    const table = processTable('init', 'npm test', sh, 'node\0vitest\0', 'npm exec coracle up', sh, coracle)
    expect(npmOf(table)).toBe(5)
    expect(npmOf(processTable('npm test', sh, 'node\0vitest\0', 'node\0worker\0', coracle))).toBe(1)
  })

  it('is none for a process that was not run by npm, whatever its parents are', () => {
    expect(npmOf(processTable('init', 'bash', coracle))).toBeUndefined()
    expect(npmOf(processTable('npm start', sh, coracle), {})).toBeUndefined()
    expect(npmOf(processTable('init', 'node\0/home/npm/server.js\0', 'vi\0npm\0', coracle))).toBeUndefined()
  })

  it('is none for a process that was detached from it, by its session or by having lost its parents', () => {
    expect(npmOf(processTable('init', 'npm start', sh, { session: '4', command: coracle }))).toBeUndefined()
    expect(npmOf(processTable('init', coracle))).toBeUndefined()
  })

  it('is not looked for without end', () => {
    expect(npmOf(processTable('npm start', ...Array.from({ length: 15 }, () => sh), coracle))).toBe(1)
    expect(npmOf(processTable('npm start', ...Array.from({ length: 16 }, () => sh), coracle))).toBeUndefined()
  })
})

describe('the end of npm', () => {
  it('is told once, within a second', async () => {
    const { clock } = virtualEnvironment()
    let isAlive = true
    let told = 0
    onNpmEnd(clock, { pid: 1, isAlive: () => isAlive }, () => {
      told++
    })
    await clock.advance('1m')
    expect(told).toBe(0)
    isAlive = false
    await clock.advance('1s')
    expect(told).toBe(1)
    await clock.advance('1m')
    expect(told).toBe(1)
  })

  it('is not told to who no longer wants to know', async () => {
    const { clock } = virtualEnvironment()
    let told = 0
    const stop = onNpmEnd(clock, { pid: 1, isAlive: () => false }, () => {
      told++
    })
    stop()
    await clock.advance('1m')
    expect(told).toBe(0)
  })
})

describe('processes of the host', () => {
  it('are known by parent, start and command', () => {
    const own = hostProcesses.read(process.pid)
    expect(own).toMatchObject({ pid: process.pid, parent: process.ppid })
    expect(own?.command).toMatch(/node/)
    expect(own !== undefined && hostProcesses.isAlive(own)).toBe(true)
    const ended = spawnSync('true').pid
    expect(hostProcesses.read(ended)).toBeUndefined()
  })

  it('are taken to be alive while no file descriptor is left to look at them', ({ skip }) => {
    skip(process.platform === 'win32', 'there is no ulimit')
    const script = `
      import { openSync } from 'node:fs'
      import { hostProcesses } from ${JSON.stringify(new URL('./host-processes.ts', import.meta.url).href)}
      const parent = hostProcesses.read(process.ppid)
      try { for (;;) openSync('/') } catch {}
      process.exitCode = hostProcesses.isAlive(parent) ? 0 : 1`
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', 'ulimit -n 64; "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([0, ''])
  })

  it('are the same by ps', ({ skip }) => {
    skip(spawnSync('ps', ['-o', 'lstart=', '-p', '1']).status !== 0, 'there is no ps that tells when a process started')
    const own = psProcesses.read(process.pid)
    expect(own).toMatchObject({ pid: process.pid, parent: process.ppid })
    expect(own?.started).toMatch(/^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/)
    expect(own?.command).toMatch(/node/)
    expect(own !== undefined && psProcesses.isAlive(own)).toBe(true)
    expect(psProcesses.read(spawnSync('true').pid)).toBeUndefined()
  })
})
