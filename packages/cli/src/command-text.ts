import type { Command } from 'commander'
import { commandWords, splitFlag } from './arguments.ts'

/** What kubectl says of `--record`. */
export const recordWarning = 'Flag --record has been deprecated, --record will be removed in the future\n'

/** Flags whose values are nobody else's business. */
const secrets = new Set(['--token', '--password'])

/**
 * A command line as kubectl notes it with `--record`: the words first, then the flags by their long names, as
 * `coracle set image deployment/web web=nginx:2 --record=true`. Secrets are left out.
 */
export function commandText(args: readonly string[], command: Command, program: Command): string {
  const options = [...command.options, ...program.options]
  const flags: string[] = []
  for (let index = 0; index < args.length && args[index] !== '--'; index++) {
    const arg = args[index] ?? ''
    if (!/^-./.test(arg)) continue
    const [name, given] = splitFlag(arg)
    const exact = options.find(({ long, short }) => long === name || short === name)
    const option = exact ?? options.find(({ short, required }) => required && short === arg.slice(0, 2))
    if (option === undefined) continue
    const joined = exact === undefined ? arg.slice(2) : given
    const value = joined ?? (option.required ? args[++index] : 'true')
    flags.push(`${option.long}=${secrets.has(option.long ?? '') ? 'CLASSIFIED' : value}`)
  }
  return [program.name(), ...commandWords(command), ...command.args, ...flags].join(' ')
}
