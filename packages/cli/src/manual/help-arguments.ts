import type { Command } from 'commander'

/** Whether arguments may lead to help, so that the manual has to be there. */
export function mayAskForHelp(args: readonly string[]): boolean {
  return args.length === 0 || args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help')
}

/** Prints all about a command, as `--help` does. */
export async function showHelp(command: Command): Promise<void> {
  const { addManual } = await import('./manual.ts')
  addManual(programOf(command))
  command.outputHelp()
}

const programOf = (command: Command): Command => (command.parent === null ? command : programOf(command.parent))
