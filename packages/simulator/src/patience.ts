import type { VirtualClock } from '@coracle/environment'

/** How far time goes at once while somebody waits, unless said otherwise. */
const stepDefaultMs = 100
/** How long somebody waits for an answer before giving up: a request's usual time-out. */
const patienceMs = 60_000

/** Lets time pass until the work is done, or its caller gives up. Rejects with what it rejects with until then. */
export async function withPatience(
  clock: VirtualClock,
  work: Promise<void>,
  stepMs: number = stepDefaultMs,
): Promise<void> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  await clock.settle()
  for (let waitedMs = 0; !isDone && waitedMs < patienceMs; waitedMs += stepMs) await clock.advance(stepMs)
  if (isDone) await work
}
