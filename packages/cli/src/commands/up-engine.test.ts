import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

it('tunes the engine when the server is ready, and leaves it as it was before the process ends', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'up-engine-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const steps: string[] = []
  const tuning = (name: string) => () => {
    steps.push(`${name} begins`)
    return () => void steps.push(`${name} ends`)
  }
  const ready = Promise.withResolvers<void>()
  const host = {
    ...recordingHost({
      workingDirectory: directory,
      onOutput: (text) => text.includes('ready') && ready.resolve(),
    }),
    keepCode: () => void steps.push('code is kept'),
    returnMemoryWhenIdle: tuning('memory'),
    delayLastCompiler: async () => tuning('compiler')(),
  }
  const ended = run(['up', '--memory', '--nodes', '0', '--port', '0'], host)
  await ready.promise
  expect(steps).toEqual(['memory begins', 'code is kept', 'compiler begins'])
  host.interrupt()
  expect(await ended).toBe(0)
  expect(steps.slice(3)).toEqual(['memory ends', 'compiler ends'])
})
