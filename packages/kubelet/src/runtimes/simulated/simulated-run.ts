import type { Probe } from '@coracle/api'
import { parseDuration, type Random } from '@coracle/environment'
import type { EnvironmentVariable } from '../runtime.ts'
import { commandRun } from './command-run.ts'
import { probeDelayMs } from './probe-delay.ts'

/** How long a simulated container runs before it ends by itself, such as `5s`. Without it, it runs until it is stopped. */
export const runVariable = 'SIMULATED_RUN'

/** What it ends with then: one of these exit codes by chance, such as `0` (the default) or `0,0,1`. */
export const exitCodeVariable = 'SIMULATED_EXIT_CODE'

/** Exit codes to choose from, at most. */
export const exitCodesMax = 100

/** How a simulated container ends by itself. */
export interface SimulatedRun {
  /** Infinite where it does not. */
  readonly forMs: number
  readonly exitCodes: readonly number[]
}

/** A container of a simulated pod that is about to run, or that ran already when the runtime took its pod over. */
export interface SimulatedContainer {
  readonly podUid: string
  readonly podNamespace: string
  readonly podName: string
  readonly name: string
  readonly image: string
  /** How often it was started before. */
  readonly attempt: number
  /** Whether it is there to do something and end: an init container, or one of a pod that is not always restarted. */
  readonly isTask: boolean
  /** As its pod gives them: empty where the image's are taken. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  /** Variables that its pod gives it and whose values are known. */
  readonly env: readonly EnvironmentVariable[]
  /** Those that decide whether it is ready. */
  readonly probes: readonly Probe[]
  /** What it knew of itself when its pod was taken over; undefined for one that starts here. */
  readonly adopted?: { readonly startedAtMs: number; readonly ready: boolean }
}

/** What a simulated container does beside what its environment says. */
export interface SimulatedConduct {
  /** How long it takes to start; the runtime's unless given. */
  readonly startLatencyMs?: number
  /** How long after it has started it is ready: at once unless given, never where infinite. */
  readonly readyAfterMs?: number
  /** How it ends by itself, where its environment does not say. */
  readonly run?: SimulatedRun
  /** Why its image cannot be had; absent where it can. */
  readonly imageError?: string
}

/** Says of each run of a container how it goes. */
export type SimulatedBehaviour = (container: SimulatedContainer) => SimulatedConduct

/** Containers that are there to do something do it in this time, and end well. The others run until they are stopped. */
export function endingTasks(forMs: number): SimulatedBehaviour {
  const ends: SimulatedConduct = { run: { forMs, exitCodes: [0] } }
  const runsOn: SimulatedConduct = {}
  return ({ isTask }) => (isTask ? ends : runsOn)
}

/**
 * Containers whose command line tells how they end do so (`commandRun`), those of the image that is there to wait do not end, and all are
 * ready when their probes can say so at the soonest (`probeDelayMs`). For the rest they go as `otherwise` says.
 */
export function asSpecified(otherwise: SimulatedBehaviour): SimulatedBehaviour {
  return (container) => {
    const { run: usual, ...conduct } = otherwise(container)
    const run =
      commandRun(container.command, container.args, container.env) ?? (onlyWaits(container) ? undefined : usual)
    const { readyAfterMs = probeDelayMs(container.probes) } = conduct
    return { ...conduct, readyAfterMs, ...(run === undefined ? {} : { run }) }
  }
}

/** Whether it runs the program of Kubernetes' own image that does nothing until it is stopped. */
const onlyWaits = ({ image, command }: SimulatedContainer): boolean =>
  command.length === 0 && /(?:^|\/)pause(?:[:@]|$)/.test(image)

/** Containers whose image is one of these cannot have it. In a pattern `*` stands for any text. The others go as `otherwise` says. */
export function withoutImages(patterns: readonly string[], otherwise: SimulatedBehaviour): SimulatedBehaviour {
  const isMissing = new RegExp(`^(?:${patterns.map(patternSource).join('|')})$`)
  return (container) => {
    const conduct = otherwise(container)
    const { image } = container
    return isMissing.test(image) ? { ...conduct, imageError: `${image}: not found` } : conduct
  }
}

const patternSource = (pattern: string): string => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')

/** What the environment of a container says of its run; undefined where it does not end. Throws an Error that names a wrong variable. */
export function simulatedRunOf(env: readonly EnvironmentVariable[]): SimulatedRun | undefined {
  const textOf = (wanted: string) => env.findLast(({ name }) => name === wanted)?.value
  const duration = textOf(runVariable)
  if (duration === undefined) return undefined
  return { forMs: parsedDuration(duration), exitCodes: parsedCodes(textOf(exitCodeVariable) ?? '0') }
}

/** One of the exit codes. */
export function exitCodeOf({ exitCodes }: SimulatedRun, random: Random): number {
  const index = exitCodes.length === 1 ? 0 : Math.floor(random.next() * exitCodes.length)
  return exitCodes[index] ?? 0
}

function parsedDuration(text: string): number {
  try {
    const ms = parseDuration(text)
    if (ms >= 0) return ms
  } catch {
    // Told below.
  }
  throw new Error(`${runVariable}: ${JSON.stringify(text)} is no duration such as "5s" or "1m30s"`)
}

function parsedCodes(text: string): readonly number[] {
  const codes = text.split(',').map((code) => code.trim())
  if (codes.length <= exitCodesMax && codes.every((code) => /^\d{1,3}$/.test(code) && Number(code) < 256))
    return codes.map(Number)
  throw new Error(
    `${exitCodeVariable}: ${JSON.stringify(text)} is no list of up to ${exitCodesMax} exit codes from 0 to 255 such as "0,1"`,
  )
}
