import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { durationText, switchOption, wholeNumber } from '../option-values.ts'
import type { DryRun } from '../output/outcome-printer.ts'
import { readsValuesLate } from '../refused-value.ts'
import { dryRunOption, ownFlags, recordOption, withFiles, withOutcome, withSelectors } from './shared-options.ts'

/** Adds the commands that change single fields of objects which are there. */
export function addChangingVerbs(program: Command, host: Host): void {
  addScale(program, host)
  addMetadata(program, host)
  addPatch(program, host)
}

/** Options of commands that change objects found by name, file or selector, and say what they did. */
export function withChanges(command: Command, verb: string): Command {
  return withOutcome(withFiles(withSelectors(command), verb))
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .option('--all', 'all objects of the type')
    .addOption(dryRunOption())
}

/** The same, for commands that can do without a server. */
export function withLocalChanges(command: Command, verb: string): Command {
  return withChanges(command, verb).option('--local', 'change what files say, and ask no server')
}

/** The flags of such a command: without a server nothing is written. */
export function localFlags<F extends { readonly local?: boolean; readonly dryRun: DryRun }>(command: Command): F {
  const flags = ownFlags<F>(command)
  return flags.local === true ? { ...flags, dryRun: 'client', givenDryRun: flags.dryRun } : flags
}

function addScale(program: Command, host: Host): void {
  withChanges(readsValuesLate(program.command('scale').alias('resize')), 'scale')
    .addOption(recordOption())
    .summary('set how many replicas there are')
    .description(
      'Sets how many replicas a Deployment, StatefulSet, ReplicaSet, ReplicationController or other kind with a scale has.',
    )
    .option('--replicas <count>', 'how many', wholeNumber())
    .option('--current-replicas <count>', 'only where it asks for this many now', wholeNumber())
    .option('--resource-version <version>', 'only where this is its version')
    .option('--timeout <duration>', 'wait this long for as many to be there (0s: do not wait)', durationText, '0s')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { scale } = await import('../commands/scale.ts')
      await scale(host, resources, command.optsWithGlobals())
    })
}

function addMetadata(program: Command, host: Host): void {
  for (const [verb, noun] of [
    ['label', 'labels'],
    ['annotate', 'annotations'],
  ] as const) {
    withLocalChanges(program.command(verb), verb)
      .summary(`set ${noun} of objects`)
      .description(`Sets ${noun} (KEY=VALUE) and takes them away (KEY-), after the objects.`)
      .option('-A, --all-namespaces', 'in all namespaces')
      .addOption(switchOption('--overwrite [boolean]', 'change those that have another value', false))
      .option('--resource-version <version>', 'only where this is the version of the object')
      .option('--list', `print the ${noun}`)
      .addOption(recordOption())
      .action(async (resources: readonly string[], _options, command: Command) => {
        const commands = await import('../commands/set-metadata.ts')
        await commands[verb](host, resources, localFlags(command))
      })
  }
}

function addPatch(program: Command, host: Host): void {
  withLocalChanges(program.command('patch'), 'patch')
    .addOption(recordOption())
    .summary('change fields of objects')
    .description('Changes objects by a patch: JSON or YAML of the fields that are to differ, or a JSON patch.')
    .option('-p, --patch <patch>', 'the patch')
    .option('--patch-file <file>', 'a file with the patch (- reads standard input)')
    .option('--type <type>', 'json, merge or strategic', 'strategic')
    .option('--subresource <name>', 'of this subresource: status, scale or resize')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { patch } = await import('../commands/patch.ts')
      await patch(host, resources, localFlags(command))
    })
}
