import { type Environment, realClock, VirtualClock } from '@coracle/environment'
import type { Drives } from './component.ts'

/** How long something may work outside the clock, with sockets, before it is taken to wait for the clock, in real time. */
const socketsGraceMs = 200
/** How far time goes at once while something that waits for the clock is stopped. */
const stopStepMs = 100

/** What is deferred on a virtual clock only runs when someone settles it: while a cluster starts or stops, that is us. */
export async function drive<T>({ clock }: Environment, work: Promise<T>): Promise<T> {
  if (!(clock instanceof VirtualClock)) return work
  const isDone = watch(work)
  while (!isDone()) await clock.settle()
  return work
}

/** How components of a cluster are driven. `hasSockets`: part of what they do happens outside the clock. */
export function drivesOf({ clock }: Environment, hasSockets: boolean): Drives {
  if (!(clock instanceof VirtualClock)) return { start: (work) => work, stop: (work) => work }
  const settle = async (isDone: () => boolean): Promise<void> => {
    const graceEndMs = realClock.monotonicMs() + (hasSockets ? socketsGraceMs : 0)
    do await clock.settle()
    while (!isDone() && realClock.monotonicMs() < graceEndMs)
  }
  return {
    async start(work) {
      const isDone = watch(work)
      await settle(isDone)
      if (isDone()) await work
    },
    /** What is stopped may have to wait for a while, as for events that the server does not take. */
    async stop(work) {
      const isDone = watch(work)
      await settle(isDone)
      while (!isDone()) await clock.advance(stopStepMs)
      await work
    },
  }
}

/** Tells whether work has ended. That it failed is its caller's to hear. */
function watch(work: Promise<unknown>): () => boolean {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  return () => isDone
}
