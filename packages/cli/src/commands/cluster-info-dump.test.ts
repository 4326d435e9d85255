import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpClient } from '@coracle/client'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

it('writes nothing outside of the directory, whatever names a server has', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dump-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const pod = { metadata: { name: '../../../escaped' }, spec: { containers: [] } }
  const client = {
    rawGet: async () => '{"items":[]}',
    list: async () => ({ items: [pod], metadata: {} }),
  } as unknown as HttpClient
  const host = {
    ...recordingHost({ workingDirectory: directory }),
    connect: async () => ({ client, namespace: 'shop' }),
  }
  expect(await run(['cluster-info', 'dump', '--output-directory=out', '--namespaces=shop'], host)).toBe(1)
  expect(host.written.stderr).toBe(
    `error: the server has a name that leads out of ${join(directory, 'out')}: "../../escaped/logs.txt"\n`,
  )
  expect(await readdir(directory)).toEqual(['out'])
  expect(existsSync(join(directory, '..', 'escaped'))).toBe(false)
})
