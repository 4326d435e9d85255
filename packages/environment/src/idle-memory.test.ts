import { describe, expect, it } from 'vitest'
import { returnMemoryWhenIdle } from './idle-memory.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A process whose work the test decides. */
function measuredProcess(release?: () => Promise<void>) {
  const clock = new VirtualClock()
  const preferred: boolean[] = []
  const room: boolean[] = []
  const steps: string[] = []
  const forgotten: number[] = []
  const moved: boolean[] = []
  const listeners = new Set<() => void>()
  let activeMs = 700
  const memory = {
    activeMs: () => activeMs,
    preferLittleMemory: (little: boolean) => void preferred.push(little),
    leaveRoomToGrow: (left: boolean) => void room.push(left),
    moveTogether: (all: boolean) => void moved.push(all),
    onCollected(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    returnFreed: () => void steps.push('returned'),
  }
  const released = async () => {
    steps.push('released')
    await release?.()
  }
  const forget = () => void forgotten.push(clock.now())
  const stop = returnMemoryWhenIdle(clock, { memory, forget, release: released })
  const spend = async (ms: number, within = '2s') => {
    activeMs += ms
    await clock.advance(within)
  }
  /** Work that ends a rest. */
  const beginWork = async () => {
    await spend(125, '125ms')
    await spend(125, '125ms')
  }
  const collect = () => {
    for (const listener of listeners) listener()
  }
  return { preferred, room, steps, forgotten, moved, spend, beginWork, collect, stop, clock }
}

describe('returnMemoryWhenIdle', () => {
  it('prefers little memory while the process has next to nothing to do, and speed while it works', async () => {
    const { preferred, spend } = measuredProcess()
    await spend(1500)
    expect(preferred).toEqual([])
    await spend(50)
    await spend(50)
    expect(preferred).toEqual([true])
    await spend(63, '125ms')
    await spend(63, '125ms')
    expect(preferred).toEqual([true, false])
    await spend(199)
    expect(preferred).toEqual([true, false, true])
  })

  it('prefers speed a moment after work begins, and takes neither a heartbeat nor the pause of a collection for it', async () => {
    const { preferred, spend } = measuredProcess()
    await spend(0)
    await spend(50, '125ms')
    await spend(50, '125ms')
    await spend(125, '125ms')
    await spend(10, '125ms')
    await spend(125, '125ms')
    expect(preferred).toEqual([true])
    await spend(125, '125ms')
    expect(preferred).toEqual([true, false])
  })

  it('leaves the heap room to grow from the first moment of rest until work has lasted', async () => {
    const { room, spend, beginWork } = measuredProcess()
    await spend(0)
    expect(room).toEqual([true])
    await beginWork()
    await spend(0)
    await beginWork()
    await spend(2000)
    expect(room).toEqual([true])
    await spend(2000)
    expect(room).toEqual([true, false])
    await spend(2000)
    expect(room).toEqual([true, false])
  })

  it('has the program forget what it can when each rest begins', async () => {
    const { forgotten, spend, beginWork, clock } = measuredProcess()
    await spend(1500)
    expect(forgotten).toEqual([])
    await spend(0)
    const first = clock.now()
    await spend(0, '30s')
    expect(forgotten).toEqual([first])
    await beginWork()
    await spend(0)
    expect(forgotten).toEqual([first, clock.now()])
  })

  it('has the second collection of a rest move all together', async () => {
    const { moved, spend, collect } = measuredProcess()
    await spend(0)
    await spend(0, '6s')
    expect(moved).toEqual([])
    collect()
    expect(moved).toEqual([true])
    await spend(0, '60s')
    expect(moved).toEqual([true, false])
  })

  it('does not have it do so where work goes on before that', async () => {
    const { moved, spend, beginWork, collect } = measuredProcess()
    await spend(0)
    collect()
    await beginWork()
    await spend(1250)
    expect(moved).toEqual([true, false])
  })

  it('gives back what is free a moment after a collection, once, when the program has let go of what it can', async () => {
    const letGo = Promise.withResolvers<void>()
    const { steps, spend, collect } = measuredProcess(() => letGo.promise)
    await spend(0)
    await spend(0, '6s')
    collect()
    await spend(0, '900ms')
    collect()
    await spend(0, '1199ms')
    expect(steps).toEqual([])
    await spend(0, '1ms')
    expect(steps).toEqual(['released'])
    letGo.resolve()
    await spend(0, '60s')
    collect()
    await spend(0, '60s')
    expect(steps).toEqual(['released', 'returned'])
  })

  it('is at rest again after a collection that was such work that it ended the rest', async () => {
    const { preferred, steps, spend, beginWork, collect } = measuredProcess()
    await spend(0)
    await beginWork()
    expect(preferred).toEqual([true, false])
    collect()
    expect(preferred).toEqual([true, false, true])
    await beginWork()
    expect(preferred.at(-1)).toBe(false)
    await spend(0, '950ms')
    expect(steps).toEqual(['released', 'returned'])
  })

  it('gives it back where no collection comes', async () => {
    const { steps, spend } = measuredProcess()
    await spend(0)
    await spend(0, '11999ms')
    expect(steps).toEqual([])
    await spend(0, '1ms')
    expect(steps).toEqual(['released', 'returned'])
  })

  it('gives it back all the same where the program cannot let go of anything', async () => {
    const { steps, spend } = measuredProcess(() => Promise.reject(new Error('closed')))
    await spend(0)
    await spend(0, '12s')
    expect(steps).toEqual(['released', 'returned'])
  })

  it('gives nothing back where work goes on, whatever is collected meanwhile', async () => {
    const { preferred, steps, spend, beginWork, collect } = measuredProcess()
    await spend(0)
    await spend(0, '11s')
    await beginWork()
    await spend(1250)
    collect()
    await spend(1250)
    expect([preferred, steps]).toEqual([[true, false], []])
    await spend(0)
    await spend(0, '12s')
    expect(steps).toEqual(['released', 'returned'])
  })

  it('leaves the engine as it found it', async () => {
    const { preferred, room, steps, spend, stop, clock } = measuredProcess()
    await spend(0)
    stop()
    await clock.advance('60s')
    expect(preferred).toEqual([true, false])
    expect(room).toEqual([true, false])
    expect(steps).toEqual([])
  })
})
