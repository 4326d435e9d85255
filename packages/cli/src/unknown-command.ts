import type { Command } from 'commander'
import { CliError, SummaryError } from './cli-error.ts'
import { kubectlCommands } from './kubectl-commands.ts'
import { nameOf } from './refusals.ts'

/** More letters than these do not differ between what was written and what was meant. */
const distanceMax = 2

/** The commands that do what other programs call so, as kubectl 1.36 has them. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  rm: ['delete'],
  remove: ['delete'],
  inspect: ['describe'],
  list: ['get'],
  ls: ['get'],
  stats: ['top'],
}

/** What is told where a word that should name a command of the program names none, in kubectl's words. */
export function unknownCommand(args: readonly string[], program: Command, word: string): CliError {
  const [first = ''] = args
  // The word might have named a plugin.
  if (first.startsWith('-')) return new SummaryError(`Error: flags cannot be placed before plugin name: ${first}`)
  return new CliError(`unknown command ${JSON.stringify(word)} for "${nameOf(program)}"${hintAt(program, word)}`)
}

/** The commands of the program that may have been meant by a word, after a message; nothing where there are none. */
export function hintAt(program: Command, word: string): string {
  const suggestions = similarCommands(program, word).map((name) => `\n\t${name}`)
  return suggestions.length === 0 ? '' : `\n\nDid you mean this?${suggestions.join('')}`
}

/** The commands that may be meant: those that differ little, those that begin so, and those that do what others call so. */
function similarCommands(program: Command, word: string): readonly string[] {
  const written = word.toLowerCase()
  return program.commands
    .map((command) => command.name())
    .filter(
      (name) =>
        editDistance(written, name.toLowerCase()) <= distanceMax ||
        name.toLowerCase().startsWith(written) ||
        otherWords[written]?.includes(name),
    )
    .toSorted((a, b) => place(a) - place(b))
}

/** Commands that kubectl does not have come last, in the order of help. */
function place(name: string): number {
  const index = kubectlCommands.indexOf(name)
  return index < 0 ? kubectlCommands.length : index
}

/** How many letters have to be put in, left out or replaced to make one text of the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...to].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min((above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1, replaced))
    }
    above = current
  }
  return above.at(-1) ?? 0
}
