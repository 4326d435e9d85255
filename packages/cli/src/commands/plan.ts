import { formatTime } from '@coracle/api'
import { planReport, type Rehearsed } from '@coracle/simulator'
import { CliError, ExitError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { planText } from '../plan/plan-text.ts'
import { Stage } from '../plan/stage.ts'
import type { RunCommand } from '../verbs/planning.ts'

export interface PlanFlags {
  readonly filename: readonly string[]
  readonly recursive?: boolean
  readonly startDelay: number
  readonly runTime: number
  readonly failRate: number
  readonly seed: number
  readonly timeout: number
  readonly output: 'text' | 'json'
}

/** Ends with this where the change would break what is promised, be refused, or not come to its end. */
export const unsafeExitCode = 2

/** Commands that change something and end by themselves: these can be played. */
const playable: ReadonlySet<string> = new Set([
  'annotate',
  'apply',
  'autoscale',
  'cordon',
  'create',
  'delete',
  'drain',
  'expose',
  'label',
  'patch',
  'replace',
  'resize',
  'rolling-update',
  'rollingupdate',
  'rollout',
  'run',
  'scale',
  'set',
  'stop',
  'taint',
  'uncordon',
])

/** `coracle plan -f FILE`, and `coracle plan COMMAND…` */
export async function plan(host: Host, words: readonly string[], flags: PlanFlags, run: RunCommand): Promise<void> {
  const command = commandOf(words, flags)
  const { seed, startDelay: startDelayMs, runTime: runMs, failRate, timeout: timeoutMs } = flags
  const assumptions = { startDelayMs, runMs, failRate }
  await using stage = new Stage(host, { seed, assumptions, timeoutMs })
  const codes: number[] = []
  const finished = run(command, stage.host).then((code) => void codes.push(code))
  const opened = await Promise.race([stage.opened, finished])
  if (opened === undefined) {
    // The command was wrong, or the cluster could not be read.
    host.stdout.write(stage.output.stdout)
    host.stderr.write(stage.output.stderr)
    throw codes[0] === 0 ? new CliError(`"${command.join(' ')}" changes nothing`) : new SilentError()
  }
  const { rehearsal, state } = opened
  const rehearsed: Rehearsed = await rehearsal.play(() => {
    stage.begin()
    return finished
  })
  const { stdout, stderr } = stage.output
  const refusal = codes[0] === undefined || codes[0] === 0 ? {} : { refusal: stderr.trim() || stdout.trim() }
  const { report, notAsked } = rehearsal
  const takenAt = formatTime(state.takenAtMs)
  const planned = planReport({ rehearsed, outcome: refusal, state, report, notAsked, seed, assumptions, takenAt })
  const line = ['coracle', ...command].join(' ')
  if (flags.output === 'json')
    host.stdout.write(`${JSON.stringify({ ...planned, command, output: stdout }, undefined, 2)}\n`)
  else host.stdout.write(planText(planned, { line, output: stdout, coloured: host.stdout.isTerminal }))
  if (planned.verdict === 'unsafe') throw new ExitError(unsafeExitCode)
}

/** The words of the command to play. Throws a CliError where there is none that can be. */
function commandOf(words: readonly string[], { filename, recursive }: PlanFlags): readonly string[] {
  const [verb, ...rest] = words
  if (filename.length > 0) {
    if (verb !== undefined) throw new CliError(`-f plays apply: either that or "${verb}", whose own -f follows it`)
    return ['apply', ...filename.flatMap((file) => ['-f', file]), ...(recursive === true ? ['-R'] : [])]
  }
  if (verb === undefined)
    throw new CliError('say what to plan: -f FILE, or a command such as: coracle plan rollout restart deployment/web')
  if (verb === 'edit' || rest[0] === 'edit-last-applied' || rest.some((word) => /^--edit(=t|$)/.test(word)))
    throw new CliError(
      'an editor cannot be played: write what you would have there to a file (coracle get KIND NAME -o yaml) and plan -f that',
    )
  const isShown = verb === 'rollout' && ['status', 'history'].includes(rest.find((word) => !word.startsWith('-')) ?? '')
  if (!playable.has(verb) || isShown)
    throw new CliError(
      `"${isShown ? `${verb} ${rest[0]}` : verb}" is nothing to plan: these are: ${[...playable].join(', ')}`,
    )
  return words
}
