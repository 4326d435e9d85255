import { setFlagsFromString } from 'node:v8'
import type { Clock, Timer } from './clock.ts'

/** How often it is looked whether a load lasts. */
const lookMs = 500
/** A process is under load while it takes this share of a processor; the heartbeats of a thousand nodes are a fifth of it. */
const busyShareMin = 0.1
/** A load lasts that has taken so much of a processor's time: whatever else the machine does, a burst of some thousand pods takes less. */
const lastingCpuMs = 2000

/** V8's flags for its last compiler. `--turbofan` is what Node.js has; the other one is off there. */
export const turbofanFlags = {
  compile: '--turbofan',
  wait: '--no-turbofan',
  /** Lets code that was compiled while there is no TurboFan ask for it again: V8 would take it for final. */
  keepAsking: '--force-emit-interrupt-budget-checks',
  stopAsking: '--no-force-emit-interrupt-budget-checks',
} as const

/** The process whose code is compiled. */
export interface CompiledProcess {
  /** The processor's time that it has taken, in all its threads. */
  cpuMs(): number
  setFlag(flag: string): void
}

/**
 * Has TurboFan, V8's last and slowest compiler, compile only while the process is under a load that lasts, until the returned
 * function is called. Of what it compiles in a burst of a thousand pods most has not paid for itself when the burst is over;
 * under a load that lasts it does within seconds (docs/decisions/0050-last-compiler-later.md).
 *
 * To be called when everything is loaded, and undone before the process ends: code that Node.js keeps, its own included, is
 * good only under the flags it was compiled with.
 */
export function delayLastCompiler(clock: Clock, compiled: CompiledProcess = thisProcess): () => void {
  const { compile, wait, keepAsking, stopAsking } = turbofanFlags
  let timer: Timer
  let last = compiled.cpuMs()
  let loadMs = 0
  let compiles = false
  const look = (): void => {
    const now = compiled.cpuMs()
    loadMs = now - last < lookMs * busyShareMin ? 0 : loadMs + (now - last)
    last = now
    const lasts = loadMs >= lastingCpuMs
    if (lasts !== compiles) compiled.setFlag(lasts ? compile : wait)
    compiles = lasts
    lookLater()
  }
  const lookLater = (): void => {
    timer = clock.setTimer(lookMs, look, { housekeeping: true })
  }
  compiled.setFlag(keepAsking)
  compiled.setFlag(wait)
  lookLater()
  return () => {
    timer.cancel()
    compiled.setFlag(compile)
    compiled.setFlag(stopAsking)
  }
}

const thisProcess: CompiledProcess = {
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  setFlag: setFlagsFromString,
}
