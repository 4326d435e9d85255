import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { durationText, keepEmpty, switchOption, wholeNumber } from '../option-values.ts'
import { readsValuesLate } from '../refused-value.ts'
import { withChanges } from './changing.ts'
import { chunkSizeOption, dryRunOption, labelSelectorOption, validateOption } from './shared-options.ts'

/** Adds the commands that take nodes out of service and bring them back. */
export function addNodeVerbs(program: Command, host: Host): void {
  for (const [verb, summary, description] of [
    ['cordon', 'keep new pods from nodes', 'Keeps new pods from nodes; those that are there stay.'],
    ['uncordon', 'let new pods come to nodes again', 'Lets new pods come to nodes again.'],
  ] as const) {
    withNodes(program.command(verb))
      .summary(summary)
      .description(description)
      .action(async (names: readonly string[], _options, command: Command) => {
        const commands = await import('../commands/nodes/cordon.ts')
        await commands[verb](host, names, command.optsWithGlobals())
      })
  }
  addDrain(program, host)
  addTaint(program, host)
}

/** Options of commands that take names of nodes. */
const withNodes = (command: Command): Command =>
  readsValuesLate(command)
    .argument('[nodes...]', 'NODE...; none with -l')
    .addOption(keepEmpty(labelSelectorOption('the nodes with these labels')))
    .addOption(dryRunOption())

function addDrain(program: Command, host: Host): void {
  withNodes(program.command('drain'))
    .summary('empty nodes, as budgets allow')
    .description(
      'Keeps new pods from nodes and evicts those that are there, as fast as their disruption budgets allow.',
    )
    .option('--force', 'pods that no controller makes again, too')
    .option('--ignore-daemonsets', 'leave the pods of daemon sets')
    .option('--delete-emptydir-data', 'pods with emptyDir volumes, too: what is in them is lost')
    .option('--grace-period <seconds>', 'time to end; below 0: as each pod says', wholeNumber(), -1)
    .option('--timeout <duration>', 'when to give up (0s: never)', durationText, '0s')
    .option('--pod-selector <selector>', 'only pods with these labels')
    .option('--disable-eviction', 'delete pods, whatever their budgets say')
    .option(
      '--skip-wait-for-delete-timeout <seconds>',
      'wait for no pod that has been on its way out for longer (0: wait for all)',
      wholeNumber(),
      0,
    )
    .addOption(chunkSizeOption())
    .action(async (names: readonly string[], _options, command: Command) => {
      const { drain } = await import('../commands/nodes/drain.ts')
      await drain(host, names, command.optsWithGlobals())
    })
}

function addTaint(program: Command, host: Host): void {
  withChanges(program.command('taint'), 'taint')
    .summary('keep pods that do not tolerate it from nodes')
    .description('Sets taints (KEY=VALUE:EFFECT) and takes them away (KEY:EFFECT-), after the nodes.')
    .addOption(switchOption('--overwrite [boolean]', 'change those of the same key and effect', false))
    .addOption(validateOption())
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { taint } = await import('../commands/nodes/taint.ts')
      await taint(host, resources, command.optsWithGlobals())
    })
}
