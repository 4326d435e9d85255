import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { runBeside } from './run-beside.ts'

/** What this process has open. */
const open = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return []
    }
  })

it.runIf(process.platform === 'linux')('keeps nothing open of a command that is given up', async () => {
  const file = join(temporaryDirectory(), 'left')
  // It is in a session of its own, where no signal to the command reaches it, and has the output of that.
  const script = `setsid sleep 1000 & echo $! >${file}.new; mv ${file}.new ${file}; sleep 1000`
  const giveUp = new AbortController()
  const before = new Set(open())
  const env = { PATH: process.env.PATH ?? '' }
  const given = runBeside({ argv: ['/bin/sh', '-c', script], env, directory: '/' }, giveUp.signal)
  given.catch(() => {})
  await expect.poll(() => existsSync(file)).toBe(true)
  onTestFinished(() => void process.kill(Number(readFileSync(file, 'utf8'))))
  giveUp.abort(new Error('given up'))
  await expect(given).rejects.toThrow('given up')
  await expect.poll(() => open().filter((each) => !before.has(each))).toEqual([])
})
