import type { Argument, Command, Option } from 'commander'
import { commandsOf, manual, type NamedCommand } from '../../packages/cli/src/manual/manual.ts'
import { type ManualPage, usualExitCodes } from '../../packages/cli/src/manual/manual-page.ts'
import { createProgram, optionDescription } from '../../packages/cli/src/program.ts'
import { recordingHost } from '../../packages/cli/src/testing/recording-host.ts'

const written = '<!-- Written by `npm run reference` from the commands themselves. -->'

/** The files of `docs/reference` and their text: an index, and a page for each command with those below it. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const program = await createProgram(recordingHost())
  const pages = program.commands
    .filter((command) => commandsOf(program).some((named) => named.command === command))
    .map((command): readonly [string, string] => [`${command.name()}.md`, commandPage(command)])
  return new Map([['README.md', indexPage(program)], ...pages])
}

function indexPage(program: Command): string {
  const rows = commandsOf(program).map(({ name, command }) => [link(name), command.summary()])
  return document([
    written,
    '# Reference of the commands',
    'The same as `coracle help COMMAND`. [The guide](../guide/README.md) says what to do with them.',
    table(['command', 'what it does'], rows),
    '## Options of all commands',
    optionTable(program.options),
  ])
}

function commandPage(command: Command): string {
  const name = command.name()
  const below = commandsOf(command, `${name} `)
  return document([
    written,
    `# coracle ${name}`,
    ...commandSections({ name, command }),
    ...below.flatMap((named) => [`## coracle ${named.name}`, ...commandSections(named)]),
  ])
}

function commandSections({ name, command }: NamedCommand): readonly string[] {
  const page = manual[name]
  if (page === undefined) throw new Error(`coracle ${name} has no page in packages/cli/src/manual/pages`)
  const path = name.split(' ').slice(0, -1)
  return [
    `\`coracle ${[...path, command.name(), command.usage()].join(' ')}\``,
    ...aliasLines(command),
    [command.description(), ...(page.details ?? [])].map(escaped).join('\n\n'),
    ...(command.registeredArguments.length === 0 ? [] : [argumentTable(command.registeredArguments)]),
    ...(command.options.length === 0 ? [] : [optionTable(command.options)]),
    exampleBlock(page),
    table(
      ['exit code', 'meaning'],
      Object.entries(page.exitCodes ?? usualExitCodes).map(([code, meaning]) => [code, meaning]),
    ),
    `See also: ${page.seeAlso.map(link).join(', ')}, [options of all commands](README.md#options-of-all-commands).`,
  ]
}

function aliasLines(command: Command): readonly string[] {
  const aliases = command.aliases().map((alias) => `\`${alias}\``)
  return aliases.length === 0 ? [] : [`Also called ${aliases.join(', ')}.`]
}

function argumentTable(args: readonly Argument[]): string {
  return table(
    ['argument', 'meaning'],
    args.map((argument) => [`\`${argument.name()}\``, argument.description]),
  )
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['option', 'meaning'],
    options.map((option) => [`\`${option.flags}\``, optionDescription(option)]),
  )
}

/** Commands of a reference are no steps that follow each other: nobody runs them as they stand. */
function exampleBlock({ examples }: ManualPage): string {
  const lines = examples.flatMap(([purpose, command]) => [`# ${purpose}`, command])
  return ['```sh no-run', ...lines, '```'].join('\n')
}

/** A command's heading in these pages: those below another stand on its page. */
function link(name: string): string {
  const [page, ...rest] = name.split(' ')
  const anchor = rest.length === 0 ? '' : `#coracle-${name.replaceAll(' ', '-')}`
  return `[\`coracle ${name}\`](${page}.md${anchor})`
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Text as Markdown shows it: no HTML, no columns of a table. */
const escaped = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<').replaceAll('*', '\\*') : part))
    .join('`')
    .replaceAll('|', '\\|')

const document = (parts: readonly string[]): string => `${parts.join('\n\n')}\n`
