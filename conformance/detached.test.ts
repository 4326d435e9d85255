import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ownPorts } from '../packages/store/src/testing/own-ports.ts'
import { type CommandHome, commandHome } from './support/command-home.ts'
import { isRunning } from './support/processes.ts'
import { eventually } from './support/program.ts'

// Servers that outlive the command that has started them, side by side.

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'detached-'))
})
afterEach(async () => {
  await coracle('down', '--all')
  await rm(directory, { recursive: true, force: true })
})

const coracle: CommandHome['coracle'] = (...args) => commandHome(directory).coracle(...args)
const ok: CommandHome['ok'] = (...args) => commandHome(directory).ok(...args)

// biome-ignore lint/suspicious/noExplicitAny: JSON of the program
const status = async (name: string): Promise<any> =>
  JSON.parse((await coracle('status', '--name', name, '-o', 'json')).stdout).clusters[0]

const up = (...args: readonly string[]) => ok('up', '--detach', '--port', '0', '--runtime', 'simulated', ...args)

it('run side by side under their names until they are told to end', async () => {
  const ready = await up()
  expect(ready).toMatch(
    /^Coracle is ready at https:\/\/127\.0\.0\.1:\d+ after \d+ ms \(KUBECONFIG=.coracle\/kubeconfig\)\n$/,
  )
  // One that is free again at the next start.
  const [port] = await ownPorts(1)
  await up('--name', 'staging', '--nodes', '3', '--port', String(port))
  expect((await ok('get', 'nodes', '-o', 'name')).split('\n')).toHaveLength(2)
  await ok('use', 'staging')
  expect((await ok('get', 'nodes', '-o', 'name')).split('\n')).toHaveLength(4)
  const [first, staging] = [await status('coracle'), await status('staging')]
  expect([first.state, first.nodes, staging.state, staging.nodes]).toEqual(['running', 1, 'running', 3])
  expect([first.detached, isRunning(first.pid), isRunning(staging.pid)]).toEqual([true, true, true])

  await ok('run', 'web', '--image', 'example/web')
  await eventually('the log to tell of the pod', async () =>
    / pod\/web +ready\n/.test(await ok('server-logs', '--name', 'staging')),
  )
  expect(await ok('down', '--name', 'staging')).toMatch(/^staging stopped after \d+ ms\n$/)
  expect([isRunning(first.pid), isRunning(staging.pid)]).toEqual([true, false])
  expect((await status('staging')).state).toBe('stopped')
  expect(await ok('server-logs', '--name', 'staging', '--tail', '1')).toMatch(/stopped after \d+ ms\n$/)

  // What was stored is there at the next start, at the same address.
  const { url } = JSON.parse(await readFile(join(directory, '.coracle/clusters/staging/server.json'), 'utf8'))
  expect(await ok('up', '-d', '--name', 'staging', '--runtime', 'simulated')).toContain(url)
  expect(await ok('get', 'pods', '-o', 'name')).toBe('pod/web\n')
})

it('are known to be gone when they were killed, and go on at the next start', async () => {
  await up('--name', 'a')
  await ok('create', 'configmap', 'kept')
  const { pid } = await status('a')
  process.kill(pid, 'SIGKILL')
  await eventually('the process to end', async () => !isRunning(pid))
  expect((await status('a')).state).toBe('killed')
  // Nobody is ended in its place.
  expect(await ok('down', '--name', 'a')).toBe('nothing runs in .coracle/clusters/a\n')
  await up('--name', 'a')
  expect(await ok('get', 'configmap', 'kept', '-o', 'name')).toBe('configmap/kept\n')
})

it('say why they do not start, where that was asked', async () => {
  await up()
  const { code, stdout, stderr } = await coracle('up', '-d', '--runtime', 'simulated')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^error: .*\.coracle is in use by process \d+: stop that with `coracle down`, or choose another/,
  )
})
