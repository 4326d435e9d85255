import type { Probe } from '@coracle/api'
import { commandRun } from './command-run.ts'

/**
 * How long after its start a container that works is ready at the soonest, as these probes of it say. Infinite where the command of
 * one can only fail.
 */
export function probeDelayMs(probes: readonly Probe[]): number {
  return probes.reduce((sumMs, probe) => sumMs + delayMs(probe), 0)
}

function delayMs({ exec, initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1 }: Probe): number {
  const exitCode = commandRun(exec?.command ?? [], [])?.exitCodes[0] ?? 0
  if (exitCode !== 0) return Number.POSITIVE_INFINITY
  return 1000 * (initialDelaySeconds + (successThreshold - 1) * periodSeconds)
}
