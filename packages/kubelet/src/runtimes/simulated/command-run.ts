import type { EnvironmentVariable } from '../runtime.ts'
import { textOfWord, type Variables } from './shell-expansion.ts'
import { type Loop, parseScript, type Script, type Statement, type Word } from './shell-script.ts'
import type { SimulatedRun } from './simulated-run.ts'

/**
 * How a command line ends, where it tells that itself: `true`, `false`, `sleep`, `echo`, `printf` and `test`, and a shell's `-c` with a
 * list of these, `exit`, and conditions with `if`, `while` and `until` on variables of the container. Undefined for every other, and for
 * a container that runs what its image says. What goes on without end, as `sleep infinity` and `while true`, has an infinite time.
 */
export function commandRun(
  command: readonly string[],
  args: readonly string[],
  env: readonly EnvironmentVariable[] = [],
): SimulatedRun | undefined {
  const [program = '', ...parameters] = command.length === 0 ? [] : [...command, ...args]
  const name = baseName(program)
  const variables = new Map(env.map((variable) => [variable.name, variable.value]))
  const end = shells.has(name) ? shellEnd(parameters, variables) : programEnd(name, parameters)
  return end === undefined ? undefined : { forMs: end.afterMs, exitCodes: [end.exitCode] }
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

interface End {
  readonly afterMs: number
  readonly exitCode: number
}

/** Of what does not end. */
const foreverMs = Number.POSITIVE_INFINITY

const shells: ReadonlySet<string> = new Set(['sh', 'ash', 'bash', 'dash'])

function programEnd(name: string, parameters: readonly string[]): End | undefined {
  switch (name) {
    case 'true':
    case ':':
    case 'echo':
    case 'printf':
      return { afterMs: 0, exitCode: 0 }
    case 'false':
      return { afterMs: 0, exitCode: 1 }
    case 'test':
      return testEnd(parameters)
    case '[':
    case '[[':
      return parameters.at(-1) === (name === '[' ? ']' : ']]') ? testEnd(parameters.slice(0, -1)) : undefined
    case 'sleep': {
      const afterMs = sleepMs(parameters)
      return afterMs === undefined ? undefined : { afterMs, exitCode: 0 }
    }
    default:
      return undefined
  }
}

/** Of options only those are read that change nothing: `-x` shows commands, `-l` is a login shell. */
function shellEnd(parameters: readonly string[], variables: Variables): End | undefined {
  const index = parameters.findIndex((parameter) => !/^-[lx]+$/.test(parameter))
  const script = parameters[index + 1]
  if (script === undefined || !/^-[lx]*c$/.test(parameters[index] ?? '')) return undefined
  const statements = parseScript(script)
  return statements === undefined ? undefined : scriptEnd(statements, variables)
}

/** How a part of a script ends; all of it where it has come to an `exit`. */
interface PartEnd extends End {
  readonly hasExited?: boolean
}

/** Whether nothing comes after it. */
const isLast = ({ hasExited, afterMs }: PartEnd): boolean => hasExited === true || afterMs === foreverMs

function scriptEnd(
  script: Script,
  variables: Variables,
  start: End = { afterMs: 0, exitCode: 0 },
): PartEnd | undefined {
  let end: PartEnd = start
  for (const statement of script) {
    const { joinedBy } = statement
    const isSkipped = joinedBy === '&&' ? end.exitCode !== 0 : joinedBy === '||' && end.exitCode === 0
    if (isSkipped) continue
    const next = statementEnd(statement, variables, end)
    if (next === undefined || isLast(next)) return next
    end = next
  }
  return end
}

function statementEnd(statement: Statement, variables: Variables, before: End): PartEnd | undefined {
  if ('words' in statement) return wordsEnd(statement.words, variables, before)
  if ('loop' in statement) return loopEnd(statement.loop, variables, before)
  let { afterMs } = before
  for (const { condition, body } of statement.branches) {
    const end = scriptEnd(condition, variables, { afterMs, exitCode: 0 })
    if (end === undefined || isLast(end)) return end
    afterMs = end.afterMs
    if (end.exitCode === 0) return scriptEnd(body, variables, { afterMs, exitCode: 0 })
  }
  return scriptEnd(statement.otherwise, variables, { afterMs, exitCode: 0 })
}

/** No script that is read here changes anything: a loop that is not over before its second time never is. */
function loopEnd({ condition, body, whileHolds }: Loop, variables: Variables, before: End): PartEnd | undefined {
  const checked = scriptEnd(condition, variables, { ...before, exitCode: 0 })
  if (checked === undefined || isLast(checked)) return checked
  if ((checked.exitCode === 0) !== whileHolds) return { ...checked, exitCode: 0 }
  const done = scriptEnd(body, variables, { ...checked, exitCode: 0 })
  return done === undefined || isLast(done) ? done : { afterMs: foreverMs, exitCode: 0 }
}

function wordsEnd([first = [], ...more]: readonly Word[], variables: Variables, before: End): PartEnd | undefined {
  const name = textOfWord(first, variables)
  if (name === undefined || !first.every((part) => 'text' in part)) return undefined
  if (name === 'echo' || name === 'printf') return { ...before, exitCode: 0 }
  const texts = more.flatMap((word) => textOfWord(word, variables) ?? [])
  if (texts.length < more.length) return undefined
  if (name === 'exit') {
    const end = exitEnd(before, texts)
    return end === undefined ? undefined : { ...end, hasExited: true }
  }
  if (name === 'trap') return isTrapOfSignals(texts) ? { ...before, exitCode: 0 } : undefined
  const next = programEnd(baseName(name), texts)
  return next === undefined ? undefined : { afterMs: before.afterMs + next.afterMs, exitCode: next.exitCode }
}

/** Whether `trap` says what to do about signals alone, and not at the end. */
const isTrapOfSignals = ([action, ...signals]: readonly string[]): boolean =>
  action !== undefined && signals.length > 0 && signals.every((each) => /^(?:SIG)?(?:TERM|INT|HUP|QUIT)$/.test(each))

/** Of `test` and its brackets, with up to three words that ask for no file. */
function testEnd(words: readonly string[]): End | undefined {
  const holds = testHolds(words)
  return holds === undefined ? undefined : { afterMs: 0, exitCode: holds ? 0 : 1 }
}

function testHolds(words: readonly string[]): boolean | undefined {
  const [a = '', b = '', c = ''] = words
  switch (words.length) {
    case 0:
      return false
    case 1:
      return a !== ''
    case 2:
      if (a === '!' || a === '-z') return b === ''
      return a === '-n' ? b !== '' : undefined
    case 3:
      if (b === '=' || b === '==') return a === c
      return b === '!=' ? a !== c : numbersCompare(a, b, c)
    default:
      return undefined
  }
}

function numbersCompare(left: string, operator: string, right: string): boolean | undefined {
  if (![left, right].every((text) => /^-?\d{1,15}$/.test(text))) return undefined
  return comparisons[operator]?.(Number(left), Number(right))
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-gt': (a, b) => a > b,
  '-ge': (a, b) => a >= b,
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
    sumMs += amount.startsWith('inf') ? foreverMs : Number(amount) * (unitsMs[unit] ?? 0)
  }
  return sumMs
}
