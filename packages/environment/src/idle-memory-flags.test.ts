import { expect, it, vi } from 'vitest'
import { returnMemoryWhenIdle } from './idle-memory.ts'
import { VirtualClock } from './virtual-clock.ts'

const flags = vi.hoisted((): string[] => [])
vi.mock('node:v8', () => ({ setFlagsFromString: (flag: string) => flags.push(flag) }))

// The number of collections at rest is not among them: V8 ends the process when it is at a later one than that.
it('tells V8 what it may at any moment, and in the end what it was', async () => {
  const clock = new VirtualClock()
  const stop = returnMemoryWhenIdle(clock)
  expect(flags).toEqual([])
  // An hour of virtual time, in which there is next to nothing to do.
  await clock.advance('1h')
  expect(flags).toEqual(['--optimize-for-size', '--heap-growing-percent=150'])
  stop()
  expect(flags.slice(2)).toEqual(['--no-optimize-for-size', '--heap-growing-percent=0'])
})
