import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLmdbStore } from '../src/index.ts'
import { bytes } from './contract.ts'
import { temporaryDirectory } from './temporary-directory.ts'

it('a directory that another living process has is refused, and free once that is killed', async () => {
  const directory = temporaryDirectory()
  onTestFinished(() => directory.remove())
  const child = await startHolder(directory.path)
  await expect(openLmdbStore({ directory: directory.path })).rejects.toMatchObject({
    name: 'DirectoryInUseError',
    owner: `process ${child.pid}`,
  })
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(existsSync(join(directory.path, 'owner.json'))).toBe(true)

  const store = await openLmdbStore({ directory: directory.path })
  expect((await store.get('held'))?.value).toEqual(bytes('held'))
  await store.close()
})

/** A process that opens the store, writes an entry, says so and stays. */
async function startHolder(directory: string) {
  const index = new URL('../src/index.ts', import.meta.url).href
  const program = `
    import { openLmdbStore } from ${JSON.stringify(index)}
    const store = await openLmdbStore({ directory: process.argv[1] })
    const operations = [{ type: 'put', key: 'held', value: Buffer.from('held') }]
    await store.commit({ conditions: [], operations })
    console.log('ready')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, directory], { stdio: 'pipe' })
  const ready = once(child.stdout, 'data')
  const failed = once(child, 'close').then(() => {
    throw new Error('the process ended before it was ready')
  })
  await Promise.race([ready, failed])
  failed.catch(() => {})
  return child
}
