import { CliError } from '../cli-error.ts'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * `npm start --nodes 3` gives `--nodes` to npm, which keeps it: only what follows `--` reaches the program. Throws a
 * CliError that says so for the first of the program's own flags (`--nodes`, …) that npm has kept.
 */
export function refuseFlagsOfNpm(variables: Variables, flags: readonly string[]): void {
  if (!isNpmStart(variables)) return
  const kept = flags.find((flag) => variables[`npm_config_${flag.slice(2).replaceAll('-', '_')}`] !== undefined)
  if (kept === undefined) return
  throw new CliError(`npm has taken ${kept} for a flag of its own: write it after --, as in npm start -- ${kept} …`)
}

/** Whether npm has taken a `-f` for itself, whose file it has passed on. */
export function hasNpmTakenFile(variables: Variables): boolean {
  return isNpmStart(variables) && variables.npm_config_force === 'true'
}

const isNpmStart = (variables: Variables): boolean => variables.npm_lifecycle_event === 'start'
