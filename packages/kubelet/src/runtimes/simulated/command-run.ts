import { parseScript, type ScriptCommand } from './shell-script.ts'
import type { SimulatedRun } from './simulated-run.ts'

/**
 * How a command line ends, where it tells that itself: `true`, `false`, `sleep`, `echo` and `printf`, and a shell's `-c` with a plain
 * list of these and `exit`. Undefined for every other, and for a container that runs what its image says. A `sleep infinity` has
 * an infinite time.
 */
export function commandRun(command: readonly string[], args: readonly string[]): SimulatedRun | undefined {
  const [program = '', ...parameters] = command.length === 0 ? [] : [...command, ...args]
  const name = program.slice(program.lastIndexOf('/') + 1)
  const end = shells.has(name) ? shellEnd(parameters) : programEnd(name, parameters)
  return end === undefined ? undefined : { forMs: end.afterMs, exitCodes: [end.exitCode] }
}

interface End {
  readonly afterMs: number
  readonly exitCode: number
}

const shells: ReadonlySet<string> = new Set(['sh', 'ash', 'bash', 'dash'])

function programEnd(name: string, parameters: readonly string[]): End | undefined {
  switch (name) {
    case 'true':
    case 'echo':
    case 'printf':
      return { afterMs: 0, exitCode: 0 }
    case 'false':
      return { afterMs: 0, exitCode: 1 }
    case 'sleep': {
      const afterMs = sleepMs(parameters)
      return afterMs === undefined ? undefined : { afterMs, exitCode: 0 }
    }
    default:
      return undefined
  }
}

/** Of options only those are read that change nothing: `-x` shows commands, `-l` is a login shell. */
function shellEnd(parameters: readonly string[]): End | undefined {
  const index = parameters.findIndex((parameter) => !/^-[lx]+$/.test(parameter))
  const script = parameters[index + 1]
  if (script === undefined || !/^-[lx]*c$/.test(parameters[index] ?? '')) return undefined
  const commands = parseScript(script)
  return commands === undefined ? undefined : scriptEnd(commands)
}

function scriptEnd(commands: readonly ScriptCommand[]): End | undefined {
  let end: End = { afterMs: 0, exitCode: 0 }
  for (const { joinedBy, words } of commands) {
    const isSkipped = joinedBy === '&&' ? end.exitCode !== 0 : joinedBy === '||' && end.exitCode === 0
    if (isSkipped) continue
    const [{ text: name, isExpanded } = { text: '', isExpanded: true }, ...parameters] = words
    const saysNothing = name === 'echo' || name === 'printf'
    if (isExpanded || (!saysNothing && parameters.some((word) => word.isExpanded))) return undefined
    const texts = parameters.map(({ text }) => text)
    if (name === 'exit') return exitEnd(end, texts)
    const next = programEnd(name.slice(name.lastIndexOf('/') + 1), texts)
    if (next === undefined) return undefined
    end = { afterMs: end.afterMs + next.afterMs, exitCode: next.exitCode }
  }
  return end
}

function exitEnd({ afterMs, exitCode }: End, [code, ...more]: readonly string[]): End | undefined {
  if (code === undefined) return { afterMs, exitCode }
  return /^\d{1,9}$/.test(code) && more.length === 0 ? { afterMs, exitCode: Number(code) % 256 } : undefined
}

const unitsMs: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The sum of what `sleep` is given: numbers with a unit, or `infinity`. */
function sleepMs(parameters: readonly string[]): number | undefined {
  if (parameters.length === 0) return undefined
  let sumMs = 0
  for (const parameter of parameters) {
    const { amount, unit = '' } =
      /^(?<amount>\d+(?:\.\d+)?|inf|infinity)(?<unit>[smhd]?)$/.exec(parameter)?.groups ?? {}
    if (amount === undefined) return undefined
    sumMs += amount.startsWith('inf') ? Number.POSITIVE_INFINITY : Number(amount) * (unitsMs[unit] ?? 0)
  }
  return sumMs
}
