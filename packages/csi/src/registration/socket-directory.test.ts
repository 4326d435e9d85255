import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../testing/fake-driver.ts'
import { socketsIn } from './socket-directory.ts'

it('finds sockets that are not hidden, and nothing else', async () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'directory'))
  writeFileSync(join(directory, 'file'), '')
  for (const name of ['b.sock', 'a.sock', '.hidden']) {
    const server = createServer().listen(join(directory, name))
    onTestFinished(() => void server.close())
    await once(server, 'listening')
  }
  const found = await socketsIn(directory)
  expect(found.map(({ path }) => path)).toEqual([join(directory, 'a.sock'), join(directory, 'b.sock')])
  expect(new Set(found.map(({ identity }) => identity)).size).toBe(2)
  expect(await socketsIn(join(directory, 'nowhere'))).toEqual([])
})
