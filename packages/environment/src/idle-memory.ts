import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import type { Clock, Timer } from './clock.ts'
import { returnFreedMemory } from './freed-memory.ts'

/** How often it is looked whether a process that works has come to rest, and whether one at rest works again. */
const lookMs = { atWork: 2500, atRest: 125 } as const
/** A process whose event loop works for less than this share of the time is idle; the heartbeats of a thousand nodes are a fifth of it. */
const idleShareMax = 0.1

/**
 * One at rest works again where its event loop does so for this share of the time, at so many looks in a row: the pause of a
 * collection, during which nobody looks, is seen at one. Code is compiled for speed from then on.
 */
const busyShareMin = 0.5
const busyLooksMin = 2

/** How long after work the memory is given back that is free by then: V8 has collected. */
const releaseDelayMs = 4000

/** What `returnMemoryWhenIdle` asks of the process. */
export interface ProcessMemory {
  /** How long the event loop has been at work; one that gets no CPU while others have it is at work, too. */
  activeMs(): number
  /** Whether the engine is to prefer little memory over speed. */
  preferLittleMemory(preferred: boolean): void
  /** Whether each collection lets the heap grow to a multiple of what is left before the next one, or as far as the engine reckons. */
  leaveRoomToGrow(left: boolean): void
  /** How long the engine waits after a collection before it looks whether it may do one for the sake of memory; its own choice unless given. */
  delayCollection(ms?: number): void
  /** Gives back what is freed outside of the engine. */
  returnFreed(): void
}

export interface IdleMemoryOptions {
  /** Lets go of memory that the program can do without until it works again. Called once in each rest. */
  readonly release?: () => Promise<void>
  readonly memory?: ProcessMemory
}

/**
 * Has V8 collect what a burst of work has left behind once the process is idle, and give the memory back, until the returned
 * function is called. V8 does so of its own accord only for as long as a little is allocated, and a process that does next to
 * nothing keeps twice what it needs: 390 MB instead of 230 after 3,000 simulated pods. The collection is V8's incremental
 * one, with a pause as others have, once after a burst.
 *
 * After a collection for the sake of memory V8 would begin the next one a few megabytes later, and the burst that ends the rest
 * would go through one after the other. It is left room to grow until work has lasted, when V8 knows better how much it wants.
 *
 * After the collection the program lets go of what it can do without (`release`), and what is free outside of V8 is given back, too.
 */
export function returnMemoryWhenIdle(
  clock: Clock,
  { release = async () => {}, memory = processMemory }: IdleMemoryOptions = {},
): () => void {
  let timer: Timer
  let releasing: Timer | undefined
  let busyLooks = 0
  let isHurried = false
  let last = memory.activeMs()
  let isIdle = false
  let hasRoom = false
  const become = (idle: boolean): void => {
    if (idle === isIdle) return
    isIdle = idle
    memory.preferLittleMemory(idle)
    releasing?.cancel()
    releasing = idle ? clock.setTimer(releaseDelayMs, () => void letGo(), { housekeeping: true }) : undefined
    // A collection that began at rest may end at work: that it takes time is what ended the rest.
    if (idle) leaveRoom(true)
  }
  const letGo = async (): Promise<void> => {
    // A store that is closed or has failed has nothing more to give.
    await release().catch(() => {})
    memory.returnFreed()
  }
  const leaveRoom = (left: boolean): void => {
    if (left === hasRoom) return
    hasRoom = left
    memory.leaveRoomToGrow(left)
  }
  const lookIn = (ms: number): void => {
    timer = clock.setTimer(ms, () => look(ms), { housekeeping: true })
  }
  const look = (ms: number): void => {
    // Not at once: the code that is kept for the next start is made now, and is good under the flags of that start alone.
    if (!isHurried) memory.delayCollection(collectionDelayMs)
    isHurried = true
    const now = memory.activeMs()
    const wasIdle = isIdle
    const share = (now - last) / ms
    busyLooks = share < busyShareMin ? 0 : busyLooks + 1
    become(isIdle ? busyLooks < busyLooksMin : share < idleShareMax)
    if (!wasIdle && !isIdle) leaveRoom(false)
    last = now
    lookIn(isIdle ? lookMs.atRest : lookMs.atWork)
  }
  lookIn(lookMs.atWork)
  return () => {
    timer.cancel()
    // The code that Node keeps for the next start is good under the flags it was compiled with.
    become(false)
    leaveRoom(false)
    memory.delayCollection()
  }
}

/**
 * V8 waits eight seconds from one look to the next whether it may collect for the sake of memory, and the collection would come that
 * much later. While there is work it does not collect, however often it looks.
 */
const collectionDelayMs = 1000

/**
 * How much may be added to what a collection at rest has left before the next: V8 itself would say ten percent there, and up to
 * three hundred at work.
 */
const growthPercentAtRest = 150

const processMemory: ProcessMemory = {
  activeMs: () => performance.eventLoopUtilization().active,
  preferLittleMemory(preferred) {
    setFlagsFromString(preferred ? '--optimize-for-size' : '--no-optimize-for-size')
    // The first collection gives back nearly all there is; the second, which moves most of the rest together, pauses four times as long.
    setFlagsFromString(`--memory-reducer-gc-count=${preferred ? 1 : 2}`)
  },
  leaveRoomToGrow(left) {
    setFlagsFromString(`--heap-growing-percent=${left ? growthPercentAtRest : 0}`)
  },
  delayCollection(ms = 8000) {
    setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${ms}`)
  },
  returnFreed: returnFreedMemory,
}
