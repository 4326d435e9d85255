import type { Command } from 'commander'

/** Whether arguments may lead to help, so that the manual has to be there. */
export function mayAskForHelp(args: readonly string[]): boolean {
  return args.length === 0 || args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help')
}

/**
 * `help rollout status` as `rollout status --help`. Words that name no command stay without the flag, so that the parser says what is
 * wrong with them, and names the command that may have been meant; words after a command that has none of its own are ignored.
 */
export function withHelpAsFlag(args: readonly string[], program: Command): readonly string[] {
  const [first, ...words] = args
  if (first !== 'help' || words.some((word) => word.startsWith('-'))) return args
  let command = program
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next === undefined && command.commands.length > 0) return words.slice(0, index + 1)
    command = next ?? command
  }
  return [...words.slice(0, depthOf(command)), '--help']
}

/** Prints all about a command, as `--help` does. */
export async function showHelp(command: Command): Promise<void> {
  const { addManual } = await import('./manual.ts')
  addManual(programOf(command))
  command.outputHelp()
}

const programOf = (command: Command): Command => (command.parent === null ? command : programOf(command.parent))

function depthOf(command: Command): number {
  return command.parent === null ? 0 : 1 + depthOf(command.parent)
}
