import { performance } from 'node:perf_hooks'
import { expect, it, onTestFinished, vi } from 'vitest'
import { returnMemoryWhenIdle } from './idle-memory.ts'
import { VirtualClock } from './virtual-clock.ts'

const flags = vi.hoisted((): string[] => [])
vi.mock('node:v8', () => ({ setFlagsFromString: (flag: string) => flags.push(flag) }))

// The number of collections at rest is not among them: V8 ends the process when it is at a later one than that.
it('tells V8 what it may at any moment, and in the end what it was', async () => {
  const idle = vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 0, utilization: 0 })
  onTestFinished(() => idle.mockRestore())
  const clock = new VirtualClock()
  const stop = returnMemoryWhenIdle(clock)
  expect(flags).toEqual([])
  await clock.advance('60s')
  expect(flags).toEqual(['--optimize-for-size', '--heap-growing-percent=150'])
  stop()
  expect(flags.slice(2)).toEqual(['--no-optimize-for-size', '--heap-growing-percent=0'])
})
