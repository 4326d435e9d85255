import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'

/** `coracle options`: what every command may be told */
export function listOptions({ stdout }: Host, program: Command): void {
  const help = program.createHelp()
  const rows = help
    .visibleOptions(program)
    .map((option) => `  ${help.optionTerm(option)}\t${help.optionDescription(option)}\n`)
  stdout.write(`The following options can be passed to any command:\n\n${alignTabs(rows.join(''), tableAlignment)}`)
}
