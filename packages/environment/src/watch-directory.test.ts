import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { realEnvironment, virtualEnvironment } from './environment.ts'
import { lookMs, watchDirectory } from './watch-directory.ts'

it('tells what comes into a directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-watch-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  let calls = 0
  const watch = watchDirectory(directory, realEnvironment().clock, () => calls++)
  onTestFinished(() => watch.close())
  writeFileSync(join(directory, 'file'), '')
  await expect.poll(() => calls).toBeGreaterThan(0)
})

it('has a directory looked at from time to time that cannot be watched, until it is closed', async () => {
  const { clock } = virtualEnvironment()
  let calls = 0
  const watch = watchDirectory('/nowhere', clock, () => calls++)
  await clock.advance(2 * lookMs)
  expect(calls).toBe(2)
  watch.close()
  await clock.advance(2 * lookMs)
  expect(calls).toBe(2)
})
