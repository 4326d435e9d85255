import type { Command } from 'commander'
import { type ManualPage, type ManualPages, usualExitCodes } from './manual-page.ts'
import { changingPages } from './pages/changing.ts'
import { clusterPages } from './pages/clusters.ts'
import { configPages } from './pages/config.ts'
import { creatingPages } from './pages/creating.ts'
import { machinePages } from './pages/machines.ts'
import { nodePages } from './pages/nodes.ts'
import { planningPages } from './pages/planning.ts'
import { readingPages } from './pages/reading.ts'
import { serverPages } from './pages/server.ts'
import { streamPages } from './pages/streams.ts'
import { workloadPages } from './pages/workloads.ts'

/** The pages of all commands. */
export const manual: ManualPages = {
  ...clusterPages,
  ...machinePages,
  ...readingPages,
  ...creatingPages,
  ...changingPages,
  ...workloadPages,
  ...streamPages,
  ...nodePages,
  ...planningPages,
  ...serverPages,
  ...configPages,
}

/** A command of the program with the words that call it: `rollout status`. */
export interface NamedCommand {
  readonly name: string
  readonly command: Command
}

/** Every command of the program that people are told of, each group before what is in it. */
export function commandsOf(parent: Command, prefix = ''): readonly NamedCommand[] {
  const visible = parent.createHelp().visibleCommands(parent)
  return visible
    .filter((command) => parent.commands.includes(command))
    .flatMap((command) => {
      const name = `${prefix}${command.name()}`
      return [{ name, command }, ...commandsOf(command, `${name} `)]
    })
}

/** Gives each command's help the rest of its manual page: details, examples, exit codes, what to read next. */
export function addManual(program: Command): void {
  for (const { name, command } of commandsOf(program)) {
    const page = manual[name]
    if (page === undefined) continue
    if (page.details !== undefined) command.description([command.description(), ...page.details].join('\n\n'))
    command.addHelpText('after', `\n${textOf(page)}`)
  }
  program.addHelpText('after', '\ncoracle help COMMAND tells all about a command: coracle help rollout status')
}

function textOf({ examples, exitCodes = usualExitCodes, seeAlso }: ManualPage): string {
  return [
    'Examples:',
    ...examples.flatMap(([purpose, command]) => [`  # ${purpose}`, `  ${command}`]),
    '',
    'Exit codes:',
    ...Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`),
    '',
    `See also: ${seeAlso.map((name) => `coracle ${name}`).join(', ')}`,
  ].join('\n')
}
