import { parseDuration } from '@coracle/environment'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Host } from '../host.ts'
import { collect, durationOption, wholeNumber } from '../option-values.ts'
import { stdinText } from './shared-options.ts'

/** Carries out a command line, and resolves to its exit code. */
export type RunCommand = (args: readonly string[], host: Host) => Promise<number>

/** Adds the command that plays changes before they are made: by `run`, as they are made. */
export function addPlanningVerbs(program: Command, host: Host, run: RunCommand): void {
  program
    .command('plan')
    .argument('[command...]', 'the command to play, such as rollout restart deployment/web')
    .summary('show what a change would do')
    .description('Plays a change on a copy of the cluster, in virtual time, and shows what would come of it.')
    .option(
      '-f, --filename <file>',
      `play apply of this file, directory or URL (${stdinText}); repeatable`,
      collect,
      [],
    )
    .option('-R, --recursive', 'take directories with all below them')
    .addOption(delayOption('--start-delay <duration>', 'time that a container takes to start', '2s'))
    .addOption(
      delayOption('--run-time <duration>', 'time that a container takes that ends, as those of Jobs do', '30s'),
    )
    .addOption(
      new Option('--fail-rate <share>', 'share of new pods that never get ready, or crash: 0.1 or 10%')
        .argParser(shareOf)
        .default(0),
    )
    .option('--seed <number>', 'which of the possible runs: the same number gives the same', wholeNumber({ min: 0 }), 1)
    .addOption(durationOption('--timeout <duration>', 'how much virtual time it may take', '15m'))
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(['text', 'json']).default('text'))
    // What follows the name of the command to play is that command's.
    .passThroughOptions()
    .action(async (words: readonly string[], _options, command: Command) => {
      const { plan } = await import('../commands/plan.ts')
      await plan(host, words, command.opts(), (args, stage) => run([...givenGlobals(program), ...args], stage))
    })
}

/** The options of every command as they were given, to be given to another. */
function givenGlobals(program: Command): readonly string[] {
  return program.options.flatMap((option) => {
    const name = option.attributeName()
    if (program.getOptionValueSource(name) !== 'cli') return []
    const value: unknown = program.getOptionValue(name)
    if (value === true) return [`${option.long}`]
    return [value].flat().map((each) => `${option.long}=${each}`)
  })
}

function delayOption(flags: string, description: string, value: string): Option {
  return new Option(flags, description)
    .argParser((text) => {
      try {
        const milliseconds = parseDuration(text)
        if (milliseconds >= 0) return milliseconds
      } catch (error) {
        throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
      }
      throw new InvalidArgumentError(`"${text}" is less than no time`)
    })
    .default(parseDuration(value), value)
}

/** A share as a fraction or in percent. */
function shareOf(text: string): number {
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (/^\d+(\.\d+)?%?$/.test(text) && value >= 0 && value <= 1) return value
  throw new InvalidArgumentError(`"${text}" is no share from 0 to 1, or 0% to 100%`)
}
