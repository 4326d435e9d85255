import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { startLogWriter } from './log-writer.ts'
import { PipeSupply } from './pipes.ts'

/** Lets a script write to a log of this path, and gives its exit code when all is written. What it leaves running is told `late` then. */
async function write(script: string, logPath: string): Promise<number | null> {
  const pipe = await new PipeSupply(temporaryDirectory()).take()
  const log = openSync(logPath, 'a')
  const { outputFd, end } = startLogWriter(pipe, log, join(temporaryDirectory(), 'log-writer'))
  closeSync(log)
  expect(existsSync(pipe)).toBe(false)
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', outputFd, outputFd, 'pipe'], env: {} })
  closeSync(outputFd)
  const [code] = await once(child, 'exit')
  const input = child.stdio[3] as Writable
  input.on('error', () => {}).end('late\n')
  await end
  return code
}

it('writes all that comes, and ends with the last of those who write', async () => {
  const log = join(temporaryDirectory(), 'log')
  expect(await write('seq 20000; echo 2 >/dev/stderr; (read line <&3; echo "$line") & exit 3', log)).toBe(3)
  const text = readFileSync(log, 'utf8')
  expect(text.slice(0, 4)).toBe('1\n2\n')
  expect(text.slice(-14)).toBe('\n20000\n2\nlate\n')
})

it.skipIf(!existsSync('/dev/full'))('ends nobody for want of room', { meta: { needs: '/dev/full' } }, async () => {
  expect(await write('seq 600000 && echo done', '/dev/full')).toBe(0)
})
