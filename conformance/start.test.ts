import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Api } from './support/api.ts'
import { coracleFile, Program, runCoracle } from './support/program.ts'

/** Has the program end loudly when it makes what Intl offers. */
const withoutIntl = `data:text/javascript,${encodeURIComponent(
  "Intl.DateTimeFormat = class { constructor() { throw new Error('Intl at the start') } }",
)}`

it('starts, and says what happens, without the tables of languages and time zones: 14 ms and 8 MB', async () => {
  await using program = await Program.start({
    alone: true,
    args: ['--memory'],
    env: { NODE_OPTIONS: `--import=${withoutIntl}` },
  })
  expect(await program.end('SIGINT')).toBe(0)
  expect(program.output.at(-1)).toMatch(/^\d\d:\d\d:\d\d {2}cluster +stopped after/)
})

it('needs nothing of the scripts beside its own until something of them is asked for: their text takes 2 MB', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coracle-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await cp(dirname(coracleFile), directory, { recursive: true })
  const beside = ['later.cjs', 'commands.cjs', 'client.cjs', 'undici.cjs', 'grpc-js.cjs', 're2js.cjs']
  for (const name of beside) await rm(join(directory, name))
  await symlink(join(import.meta.dirname, '../node_modules'), join(directory, 'node_modules'))
  await using program = await Program.start({ alone: true, args: [], file: join(directory, 'coracle.js') })
  const api = await Api.of(program)
  await expect
    .poll(async () => (await api.object('/api/v1/nodes')).items[0]?.status.conditions)
    .toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
  api.close()
  expect(await program.end('SIGINT')).toBe(0)
})

describe('code that is kept for the next time', () => {
  let cache: string
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'kept-code-'))
  })
  afterEach(() => rmSync(cache, { recursive: true }))

  /** What is kept, and when it was put there. */
  function kept(): readonly { readonly command: string; readonly inode: number }[] {
    const files = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.code'))
    return files.sort().map((name) => ({
      command: basename(name).replace(/-[^-]*$/, ''),
      inode: statSync(join(cache, name)).ino,
    }))
  }

  it('is that of a server as soon as it is ready, and is taken as it is', async () => {
    const startOnce = async () => {
      await using program = await Program.start({ alone: true, args: ['--memory'], env: { NODE_COMPILE_CACHE: cache } })
      expect(await program.end('SIGINT')).toBe(0)
      return kept()
    }
    const first = await startOnce()
    expect(first).toMatchObject([{ command: 'up' }])
    expect(await startOnce()).toEqual(first)
  })

  it('is that of each other command by itself when it has done its work', async () => {
    const runOnce = async (...args: string[]) => {
      await runCoracle(args, { env: { NODE_COMPILE_CACHE: cache } })
      return kept()
    }
    expect(await runOnce('version', '--wrong')).toEqual([])
    expect(await runOnce('version', '--help')).toMatchObject([{ command: 'help' }])
    const first = await runOnce('version', '--client')
    expect(first).toMatchObject([{ command: 'help' }, { command: 'version' }])
    expect(await runOnce('version', '--client')).toEqual(first)
    expect(await runOnce('completion', 'bash')).toMatchObject([
      { command: 'completion' },
      { command: 'help' },
      { command: 'version' },
    ])
  })

  it('is that of each script that a command has run', async () => {
    const helpOnce = async () => {
      await runCoracle(['agent', '--help'], { env: { NODE_COMPILE_CACHE: cache } })
      return kept()
    }
    const first = await helpOnce()
    expect(first).toMatchObject([{ command: 'help' }, { command: 'help' }])
    expect(await helpOnce()).toEqual(first)
  })
})

it('has the whole program for commands that need it, wherever in the line they stand', async () => {
  const { code, stderr } = await runCoracle([
    '--namespace',
    'x',
    'snapshot',
    'save',
    'file',
    '--data-dir',
    '/nowhere/at/all',
  ])
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('/nowhere/at/all') })
})

it.each(['\u00b5', '\u03bc'])('both scripts read durations with the sign %s', async (micro) => {
  const wait = await runCoracle([
    'wait',
    '--for=delete',
    'pod/x',
    `--timeout=5${micro}s`,
    '--server=https://127.0.0.1:1',
  ])
  expect(wait.stderr).not.toContain('invalid argument')
  const up = await runCoracle(['up', `--minimum-container-ttl-duration=5${micro}s`, '--nodes=some'])
  expect(up.stderr).toMatch(/--nodes/)
  expect(up.stderr).not.toContain('--minimum-container-ttl-duration')
})
