import { describe, expect, it } from 'vitest'
import { returnMemoryWhenIdle } from './idle-memory.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A process whose work the test decides. */
function measuredProcess() {
  const clock = new VirtualClock()
  const preferred: boolean[] = []
  const room: boolean[] = []
  let activeMs = 700
  const memory = {
    activeMs: () => activeMs,
    preferLittleMemory: (little: boolean) => void preferred.push(little),
    leaveRoomToGrow: (left: boolean) => void room.push(left),
  }
  const stop = returnMemoryWhenIdle(clock, memory)
  const spend = async (ms: number, within = '5s') => {
    activeMs += ms
    await clock.advance(within)
  }
  return { preferred, room, spend, stop, clock }
}

describe('returnMemoryWhenIdle', () => {
  it('prefers little memory while the process has next to nothing to do, and speed while it works', async () => {
    const { preferred, spend } = measuredProcess()
    await spend(4000)
    expect(preferred).toEqual([])
    await spend(100)
    await spend(100)
    expect(preferred).toEqual([true])
    await spend(500)
    expect(preferred).toEqual([true, false])
    await spend(499)
    expect(preferred).toEqual([true, false, true])
  })

  it('prefers speed a moment after work begins, and does not take a heartbeat for it', async () => {
    const { preferred, spend } = measuredProcess()
    await spend(0)
    await spend(100, '250ms')
    expect(preferred).toEqual([true])
    await spend(200, '250ms')
    expect(preferred).toEqual([true, false])
  })

  it('leaves the heap room to grow from the first moment of rest until work has lasted', async () => {
    const { room, spend } = measuredProcess()
    await spend(0)
    expect(room).toEqual([true])
    await spend(250, '250ms')
    await spend(0)
    await spend(250, '250ms')
    expect(room).toEqual([true])
    await spend(4000)
    expect(room).toEqual([true, false])
    await spend(4000)
    expect(room).toEqual([true, false])
  })

  it('leaves the engine as it found it', async () => {
    const { preferred, room, spend, stop, clock } = measuredProcess()
    await spend(0)
    stop()
    await clock.advance('60s')
    expect(preferred).toEqual([true, false])
    expect(room).toEqual([true, false])
  })
})
