import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { hintAt } from '../unknown-command.ts'

/** `coracle help [COMMAND]`: all about the command that words name, or about the one that has none called like the next of them. */
export function helpAbout({ stderr }: Host, program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next === undefined) break
    command = next
  }
  const [first] = words
  if (command !== program || first === undefined) {
    command.outputHelp()
    return
  }
  const topic = words.map((word) => `\`${word}\``).join(' ')
  stderr.write(`Unknown help topic [${topic}]${hintAt(program, first)}\n\n`)
  program.outputHelp({ error: true })
}
