import { setFlagsFromString } from 'node:v8'
import type { Clock, Timer } from './clock.ts'
import { returnFreedMemory } from './freed-memory.ts'

/** How often it is looked whether a process that works has come to rest, and whether one at rest works again. */
const lookMs = { atWork: 2000, atRest: 125 } as const
/** A process whose event loop works for less than this share of the time is idle; the heartbeats of a thousand nodes are a fifth of it. */
const idleShareMax = 0.1

/**
 * One at rest works again where its event loop does so for this share of the time, at so many looks in a row: the pause of a
 * collection, during which nobody looks, is seen at one. Code is compiled for speed from then on.
 */
const busyShareMin = 0.5
const busyLooksMin = 2

/**
 * Memory outside of the engine is given back a moment after its collections, which follow each other within a second, when what they have found
 * to be garbage is freed. V8 looks every eight seconds whether it may collect, and does not where there is little to find.
 */
const releaseMs = { afterCollection: 1200, withoutOne: 12_000 } as const

/** After so many looks in a row that found it at work, the engine knows better than this how much room its heap needs. */
const workLooksMax = 2

/** What `returnMemoryWhenIdle` asks of the process. */
export interface ProcessMemory {
  /** How long the event loop has been at work; one that gets no CPU while others have it is at work, too. */
  activeMs(): number
  /** Whether the engine is to prefer little memory over speed. */
  preferLittleMemory(preferred: boolean): void
  /** Whether each collection lets the heap grow to a multiple of what is left before the next one, or as far as the engine reckons. */
  leaveRoomToGrow(left: boolean): void
  /** Whether collections move all there is together, or only what is worth it and does not take long. */
  moveTogether(all: boolean): void
  /** Calls back after each full collection until the returned function is called. */
  onCollected(callback: () => void): () => void
  /** Gives back what is freed outside of the engine. */
  returnFreed(): void
}

export interface IdleMemoryOptions {
  /** Leaves to the collection what the program can do without. Called when a rest begins. */
  readonly forget?: () => void
  /** Lets go of memory outside of the engine that the program can do without until it works again. Called when the engine has collected. */
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
 * Before the collection the program forgets what it can do without (`forget`); after it, it lets go of what else that is (`release`), and what is free outside of V8 is given back, too.
 */
export function returnMemoryWhenIdle(
  clock: Clock,
  { forget = () => {}, release = async () => {}, memory = processMemory }: IdleMemoryOptions = {},
): () => void {
  let timer: Timer
  let releasing: Timer | undefined
  let busyLooks = 0
  let workLooks = 0
  let withoutCollection: Timer | undefined
  let stopListening: (() => void) | undefined
  let last = memory.activeMs()
  let isIdle = false
  let hasRoom = false
  let isMovingAll = false
  const become = (idle: boolean): void => {
    if (idle === isIdle) return
    isIdle = idle
    memory.preferLittleMemory(idle)
    if (idle) {
      forget()
      awaitCollection()
    } else withoutCollection?.cancel()
    // A collection that began at rest may end at work: that it takes time is what ended the rest.
    if (idle) leaveRoom(true)
  }
  const awaitCollection = (): void => {
    withoutCollection = timerTo(letGo, releaseMs.withoutOne)
    stopListening ??= memory.onCollected(() => {
      releasing?.cancel()
      releasing = timerTo(letGo, releaseMs.afterCollection)
      // What is left, that is: the first collection need not move it as well.
      moveTogether(true)
      // That it takes time is no work, and may have ended the rest.
      timer.cancel()
      last = memory.activeMs()
      busyLooks = 0
      become(true)
      lookIn(lookMs.atRest)
    })
  }
  const stopAwaiting = (): void => {
    for (const each of [releasing, withoutCollection]) each?.cancel()
    stopListening?.()
    stopListening = undefined
    moveTogether(false)
  }
  const moveTogether = (all: boolean): void => {
    if (all === isMovingAll) return
    isMovingAll = all
    memory.moveTogether(all)
  }
  const timerTo = (action: () => Promise<void>, ms: number): Timer =>
    clock.setTimer(ms, () => void action(), { housekeeping: true })
  const letGo = async (): Promise<void> => {
    stopAwaiting()
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
    const now = memory.activeMs()
    const wasIdle = isIdle
    const share = (now - last) / ms
    busyLooks = share < busyShareMin ? 0 : busyLooks + 1
    become(isIdle ? busyLooks < busyLooksMin : share < idleShareMax)
    workLooks = wasIdle || isIdle ? 0 : workLooks + 1
    if (workLooks === 1) stopAwaiting()
    if (workLooks === workLooksMax) leaveRoom(false)
    last = now
    lookIn(isIdle ? lookMs.atRest : lookMs.atWork)
  }
  lookIn(lookMs.atWork)
  return () => {
    timer.cancel()
    // The code that Node keeps for the next start is good under the flags it was compiled with.
    become(false)
    leaveRoom(false)
    stopAwaiting()
  }
}

/**
 * How much may be added to what a collection at rest has left before the next: V8 itself would say ten percent there, and up to
 * three hundred at work.
 */
const growthPercentAtRest = 150

/**
 * A collection at rest moves 12 MB at most: after 8,000 pods the heap had 77 to 100 MB for 74 MB of objects, as it came, and has 76. To move all that
 * is left takes up to 0.3 s with so many objects; a heap that holds more than this is spared it.
 */
const movedBytesMax = 150e6

// What Node has to measure with is loaded by who measures: commands that only ask a server do not.
const processMemory: ProcessMemory = {
  activeMs: () => process.getBuiltinModule('node:perf_hooks').performance.eventLoopUtilization().active,
  // How many collections V8 does (`--memory-reducer-gc-count`, two) must stay as it is: the process would end if there were fewer
  // than it is at.
  preferLittleMemory(preferred) {
    setFlagsFromString(preferred ? '--optimize-for-size' : '--no-optimize-for-size')
  },
  leaveRoomToGrow(left) {
    setFlagsFromString(`--heap-growing-percent=${left ? growthPercentAtRest : 0}`)
  },
  moveTogether(all) {
    const does = all && process.memoryUsage().heapUsed < movedBytesMax
    setFlagsFromString(does ? '--compact-on-every-full-gc' : '--no-compact-on-every-full-gc')
  },
  onCollected(callback) {
    const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks')
    const observer = new PerformanceObserver((list) => {
      if (list.getEntries().some(isFullCollection)) callback()
    })
    observer.observe({ entryTypes: ['gc'] })
    return () => observer.disconnect()
  },
  returnFreed: returnFreedMemory,
}

function isFullCollection(entry: object): boolean {
  const { constants } = process.getBuiltinModule('node:perf_hooks')
  const detail = 'detail' in entry ? entry.detail : undefined
  return (
    typeof detail === 'object' &&
    detail !== null &&
    'kind' in detail &&
    detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
  )
}
