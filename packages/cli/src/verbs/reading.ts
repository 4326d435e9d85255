import { type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import type { WaitFlags } from '../commands/wait.ts'
import type { Host } from '../host.ts'
import {
  collect,
  collectCommas,
  durationText,
  keepEmpty,
  podRunningTimeoutOption,
  switchOption,
  wholeNumber,
} from '../option-values.ts'
import {
  chunkSizeOption,
  fieldSelectorOption,
  labelSelectorOption,
  missingKeysOption,
  objectFormatsText,
  outcomeFormatOption,
  templateText,
  withFiles,
  withSelectors,
} from './shared-options.ts'

/** Adds the commands that show objects and what comes of them. */
export function addReadingVerbs(program: Command, host: Host): void {
  addGet(program, host)
  addDescribe(program, host)
  addWhy(program, host)
  addLogs(program, host)
  addWait(program, host)
  addEvents(program, host)
  addTop(program, host)
}

function addGet(program: Command, host: Host): void {
  withFiles(withSelectors(program.command('get')), 'show')
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('list objects')
    .description('Lists objects, or shows those that are named.')
    .option('-o, --output <format>', `wide, custom-columns=, custom-columns-file=, ${objectFormatsText}`)
    .option('--template <template>', templateText)
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-w, --watch', 'go on with what changes')
    .option('--watch-only', 'only what changes from now on')
    .option('--output-watch-events', 'with --watch: what kind of change it is, too')
    .option('--subresource <name>', 'of this subresource: status, scale or resize')
    .option('--sort-by <path>', 'in order of a field, such as .metadata.name')
    .option('-L, --label-columns <keys>', 'add columns with these labels', collectCommas, [])
    .option('--show-labels', 'add a column with all labels')
    .option('--show-kind', 'names with their kind')
    .option('--no-headers', 'leave the headers out')
    .option('--ignore-not-found', 'say nothing of objects that are not there')
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .addOption(missingKeysOption())
    .addOption(chunkSizeOption())
    .addOption(switchOption('--server-print [boolean]', 'tables as the server draws them; false: names and ages', true))
    .option('--raw <path>', 'print what the server has under a path')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { get } = await import('../commands/get.ts')
      await get(host, resources, command.optsWithGlobals())
    })
}

function addDescribe(program: Command, host: Host): void {
  withFiles(program.command('describe'), 'show')
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('show objects in detail')
    .description('Shows objects in detail, and what happened to a single one. A name may be the beginning of one.')
    .addOption(labelSelectorOption())
    .option('-A, --all-namespaces', 'in all namespaces')
    .addOption(
      switchOption('--show-events [boolean]', 'with what happened to them; unless given, of a single object alone'),
    )
    .addOption(chunkSizeOption())
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { describe } = await import('../commands/describe.ts')
      await describe(host, resources, command.optsWithGlobals())
    })
}

function addWhy(program: Command, host: Host): void {
  program
    .command('why')
    .argument('<resources...>', 'TYPE NAME... or TYPE/NAME...')
    .summary('say why an object is as it is')
    .description(
      'Says what holds an object up and what would help, and which changes led to how it is: who made them, when and why, back to who asked. Objects that are gone are in the record too.',
    )
    .option('-o, --output <format>', 'json or yaml')
    .option('-w, --watch', 'go on with new changes, and whenever something else holds it up')
    .option('--limit <count>', 'how many of its latest changes to follow back', wholeNumber({ min: 1 }), 20)
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { why } = await import('../commands/why.ts')
      await why(host, resources, command.optsWithGlobals())
    })
}

function addLogs(program: Command, host: Host): void {
  program
    .command('logs')
    .argument('[pod]', 'POD or TYPE/NAME; none with -l')
    .argument('[container...]', 'the container, where the pod has several')
    .summary('print what containers write')
    .description('Prints what containers of pods have written.')
    .option('-c, --container <name>', 'the container, where the pod has several')
    .option('--all-containers', 'all containers of the pod')
    .option('--all-pods', 'all pods of the object that is named, with --prefix')
    .addOption(labelSelectorOption('the pods with these labels'))
    .option('-f, --follow', 'go on as they write more')
    .option('--max-log-requests <count>', 'how many logs to follow at most', wholeNumber(), 5)
    .option('-p, --previous', 'of the run before the present one')
    .option('--prefix', 'with the pod and the container before each line')
    .option('--tail <lines>', 'only the last lines (-1: all; with -l: 10)', wholeNumber())
    .option('--since <duration>', 'only what is newer, such as 5m', durationText)
    .option('--since-time <time>', 'only what is newer than this time (RFC 3339)')
    .option('--timestamps', 'with the time of each line')
    .option('--limit-bytes <bytes>', 'stop after this much', wholeNumber())
    .option('--ignore-errors', 'go on with the next log where one cannot be read')
    .option('--insecure-skip-tls-verify-backend', "take any certificate for the node agent's")
    .addOption(podRunningTimeoutOption('20s', CliError))
    .action(async (pod: string | undefined, containers: readonly string[], _options, command: Command) => {
      const { logs } = await import('../commands/logs.ts')
      await logs(host, pod === undefined ? [] : [pod, ...containers], command.optsWithGlobals())
    })
}

function addWait(program: Command, host: Host): void {
  withFiles(withSelectors(program.command('wait')), 'wait for')
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .summary('wait until objects are as they should be')
    .description('Waits until objects have a condition or a value, are created, or are gone.')
    .addOption(
      keepEmpty(
        new Option(
          '--for <condition>',
          'delete, create, condition=NAME[=VALUE] or jsonpath={PATH}[=VALUE]; repeatable, for one after another',
        ),
      )
        .argParser(collect)
        .default([]),
    )
    .option('--all', 'all objects of the type')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--local', 'wait for the objects of files as they stand there, without a server')
    .option('--timeout <duration>', 'how long to wait; 0: not at all, below zero: a week', durationText, '30s')
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .addOption(missingKeysOption())
    .addOption(outcomeFormatOption())
    .option('--template <template>', templateText)
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { wait } = await import('../commands/wait.ts')
      await wait(host, resources, { ...command.optsWithGlobals<WaitFlags>(), dryRun: 'none' })
    })
}

function addEvents(program: Command, host: Host): void {
  program
    .command('events')
    .allowExcessArguments()
    .summary('list what has happened')
    .description('Lists events, in order of time.')
    .option('--for <object>', 'only what happened to this object, TYPE/NAME')
    .option('--types <types>', 'only events of these types, as Warning', collectCommas, [])
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-w, --watch', 'go on with what happens')
    .option('--no-headers', 'leave the headers out')
    .option('-o, --output <format>', objectFormatsText)
    .option('--template <template>', templateText)
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .addOption(missingKeysOption())
    .addOption(chunkSizeOption())
    .action(async (_options, command: Command) => {
      const { showEvents } = await import('../commands/events.ts')
      await showEvents(host, command.optsWithGlobals())
    })
}

function addTop(program: Command, host: Host): void {
  const top = program
    .command('top')
    .summary('show what pods and nodes use')
    .description('Shows what pods or nodes use.')
  const usage = (name: string, aliases: readonly string[], description: string) =>
    top
      .command(name)
      .aliases([...aliases])
      .argument('[names...]', 'one of them')
      .summary(description.toLowerCase())
      .description(`${description}: CPU in thousandths of a core, and memory.`)
      .addOption(labelSelectorOption())
      .option('--sort-by <resource>', 'most of it first: cpu or memory')
      .option('--no-headers', 'leave the headers out')
      .option('--show-swap', 'with the swap memory that they use')
      .addOption(switchOption('--use-protocol-buffers [boolean]', 'accepted for the sake of scripts', true))
  usage('pod', ['pods', 'po'], 'What pods use')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--containers', 'each container by itself')
    .option('--sum', 'with a line for all of them together')
    .addOption(fieldSelectorOption('only those with these fields, such as metadata.name=web'))
    .action(async (names: readonly string[], _options, command: Command) => {
      const { topPods } = await import('../commands/top.ts')
      await topPods(host, names, command.optsWithGlobals())
    })
  usage('node', ['nodes', 'no'], 'What nodes use')
    .option('--show-capacity', 'of all that nodes have, and not of what pods may have')
    .action(async (names: readonly string[], _options, command: Command) => {
      const { topNodes } = await import('../commands/top.ts')
      await topNodes(host, names, command.optsWithGlobals())
    })
}
