import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { type Candidate, type Completion, candidatesMax } from './candidates.ts'
import { type CommandLine, readCommandLine } from './command-line.ts'
import { argumentCandidates, optionCandidates } from './live-values.ts'

/** What the shells' scripts are told beside candidates, in the numbers of cobra, so that its scripts work as well. */
const noSpace = 2
const noFiles = 4

/**
 * `coracle __complete WORD…`: prints what the last word may be, a line each, and at the end how to go on. Whatever fails is silent:
 * somebody is typing.
 */
export async function printCompletion(host: Host, program: Command, words: readonly string[]): Promise<void> {
  const line = readCommandLine(program, words)
  const { candidates, files = false } = await complete(host, program, line).catch(
    (): Completion => ({ candidates: [] }),
  )
  const shown = candidates.filter(({ word }) => word.startsWith(line.word)).slice(0, candidatesMax)
  // A word that ends so goes on.
  const isOpen = shown.length > 0 && shown.every(({ word }) => /[=,:/]$/.test(word))
  const lines = shown.map(({ word, description }) => `${line.before}${word}${description ? `\t${description}` : ''}\n`)
  host.stdout.write(`${lines.join('')}:${(isOpen ? noSpace : 0) + (files ? 0 : noFiles)}\n`)
}

async function complete(host: Host, program: Command, line: CommandLine): Promise<Completion> {
  const { command, args, pending, word, takesOptions } = line
  if (pending !== undefined) {
    if (pending.argChoices !== undefined) return { candidates: pending.argChoices.map((each) => ({ word: each })) }
    return optionCandidates(host, line, pending)
  }
  if (takesOptions && word.startsWith('-')) return { candidates: flagsOf(command, program) }
  const below = args.length === 0 ? commandsBelow(command) : []
  if (below.length > 0 && below.some((each) => each.word.startsWith(word))) return { candidates: below }
  return argumentCandidates(host, line)
}

function commandsBelow(command: Command): readonly Candidate[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map((each) => ({ word: each.name(), description: each.summary() }))
}

function flagsOf(command: Command, program: Command): readonly Candidate[] {
  const seen = new Set<string>()
  return [...command.options, ...program.options].flatMap(({ long, description, required, hidden }) => {
    if (!long || hidden || seen.has(long)) return []
    seen.add(long)
    return [{ word: required ? `${long}=` : long, description }]
  })
}
