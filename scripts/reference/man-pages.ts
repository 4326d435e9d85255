import type { Command } from 'commander'
import { commandsOf, manual, type NamedCommand } from '../../packages/cli/src/manual/manual.ts'
import { usualExitCodes } from '../../packages/cli/src/manual/manual-page.ts'
import { createProgram, optionDescription } from '../../packages/cli/src/program.ts'
import { recordingHost } from '../../packages/cli/src/testing/recording-host.ts'

/** A page for `man`: `coracle-rollout.1`. */
export interface ManPage {
  readonly name: string
  readonly text: string
}

/** The pages for `man`: the program's, and one for each command, with those below it. */
export async function manPages(version: string): Promise<readonly ManPage[]> {
  const program = await createProgram(recordingHost())
  const commands = commandsOf(program)
  const top = commands.filter(({ command }) => command.parent === program)
  return [
    { name: 'coracle.1', text: programPage(program, top, version) },
    ...top.map(({ name, command }) => ({ name: `coracle-${name}.1`, text: commandPage({ name, command }, version) })),
  ]
}

function programPage(program: Command, commands: readonly NamedCommand[], version: string): string {
  return page([
    title('CORACLE', version),
    section('NAME', [`coracle \\- ${escaped('Kubernetes in one process')}`]),
    section('SYNOPSIS', ['.B coracle', escaped('COMMAND [options]')]),
    section('DESCRIPTION', [line(program.description())]),
    section(
      'COMMANDS',
      commands.flatMap(({ name, command }) => tagged(`coracle-${name}(1)`, command.summary())),
    ),
    section('OPTIONS', options(program)),
  ])
}

function commandPage({ name, command }: NamedCommand, version: string): string {
  const below = commandsOf(command, `${name} `)
  const { seeAlso = [] } = manual[name] ?? {}
  const pages = [...new Set(seeAlso.map((each) => each.split(' ')[0]))].filter((each) => each !== name)
  return page([
    title(`CORACLE-${name.toUpperCase()}`, version),
    section('NAME', [`coracle\\-${escaped(name)} \\- ${escaped(command.summary())}`]),
    ...body({ name, command }, 'SH'),
    ...below.flatMap((named) => [section(`coracle ${named.name}`.toUpperCase(), body(named, 'SS'))]),
    section('SEE ALSO', [
      escaped(['coracle', ...pages.map((each) => `coracle-${each}`)].map((each) => `${each}(1)`).join(', ')),
    ]),
  ])
}

/** What is said of one command, under headings of a size. */
function body({ name, command }: NamedCommand, heading: 'SH' | 'SS'): readonly string[] {
  const { details = [], examples = [], exitCodes = usualExitCodes } = manual[name] ?? {}
  const part = (text: string, lines: readonly string[]) => (lines.length === 0 ? [] : [section(text, lines, heading)])
  return [
    ...part('SYNOPSIS', [`.B coracle ${escaped(name)}`, escaped(command.usage())]),
    ...part(
      'DESCRIPTION',
      [command.description(), ...details].flatMap((text) => ['.PP', line(text)]),
    ),
    ...part('OPTIONS', options(command)),
    ...part(
      'EXAMPLES',
      examples.flatMap(([purpose, example]) => [
        '.PP',
        line(`${purpose}:`),
        '.PP',
        '.nf',
        `.RS\n${line(example)}\n.RE`,
        '.fi',
      ]),
    ),
    ...part(
      'EXIT STATUS',
      Object.entries(exitCodes).flatMap(([code, meaning]) => tagged(code, meaning)),
    ),
  ]
}

const options = (command: Command): readonly string[] =>
  command.options.flatMap((option) => tagged(option.flags, optionDescription(option)))

const title = (name: string, version: string): string => `.TH ${name} 1 "" "coracle ${version}" "Coracle"`

const section = (heading: string, lines: readonly string[], macro = 'SH'): string =>
  [`.${macro} ${escaped(heading)}`, ...lines].join('\n')

const tagged = (tag: string, text: string): readonly string[] => ['.TP', `.B ${escaped(tag)}`, line(text)]

/** Text of a line of its own: a period or quote at its beginning is no request. */
const line = (text: string): string => escaped(text).replace(/^[.']/, '\\&$&')

const escaped = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-')

const page = (parts: readonly string[]): string => `${parts.join('\n')}\n`
