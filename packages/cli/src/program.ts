import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { describeError } from './describe-error.ts'
import type { Host } from './host.ts'

/** Runs `coracle` with these arguments and returns the exit code: 0, or 1 after a message on standard error. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  const program = createProgram(host)
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // The parser has already said what is wrong, and has shown its help where that was asked for.
    if (error instanceof CommanderError) return error.exitCode
    host.stderr.write(`${describeError(error)}\n`)
    return 1
  }
}

/**
 * The commands and their flags. What a command does is loaded when it is the one to run: nothing here may import more
 * than the parser.
 */
function createProgram(host: Host): Command {
  const program = new Command('coracle')
    .description('Kubernetes in one process: starts a cluster, and works with this or any other.')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, .coracle/kubeconfig, ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig to use')
    .option('-n, --namespace <name>', 'namespace of what is named')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    })
    .exitOverride()
    .showSuggestionAfterError()
  addUp(program, host)
  addGet(program, host)
  addDescribe(program, host)
  addCreate(program, host)
  addApply(program, host)
  addDelete(program, host)
  addLogs(program, host)
  return program
}

function addUp(program: Command, host: Host): void {
  program
    .command('up')
    .summary('start a cluster here')
    .description('Starts a cluster in this process and tells what happens in it, until Ctrl-C.')
    .option(
      '-f, --filename <file>',
      'apply what this file or directory says (- reads standard input); repeatable',
      collect,
      [],
    )
    .option('-R, --recursive', 'take directories with all below them')
    .option('--data-dir <directory>', 'where everything is kept', '.coracle')
    .option('--memory', 'keep objects in memory only: they are gone afterwards')
    .option('--listen <address>', 'address to serve the API on', '127.0.0.1')
    .option('--port <number>', 'port to serve the API on; 0 picks a free one', portNumber, 6443)
    .option('--nodes <count>', 'how many nodes to have', positiveInteger, 1)
    .addOption(
      new Option('--runtime <name>', 'what containers are: processes of this host, or simulated')
        .choices(['process', 'simulated'])
        .default('process'),
    )
    .action(async (_options, command: Command) => {
      const { up } = await import('./commands/up.ts')
      await up(host, command.optsWithGlobals())
    })
}

function addGet(program: Command, host: Host): void {
  withSelectors(program.command('get'))
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('list objects')
    .description('Lists objects, or shows those that are named.')
    .addOption(outputOption(['wide', 'json', 'yaml', 'name']))
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-w, --watch', 'go on with what changes')
    .option('-L, --label-columns <keys>', 'add columns with these labels', collectCommas, [])
    .option('--show-labels', 'add a column with all labels')
    .option('--no-headers', 'leave the headers out')
    .option('--ignore-not-found', 'say nothing of objects that are not there')
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { get } = await import('./commands/get.ts')
      await get(host, resources, command.optsWithGlobals())
    })
}

function addDescribe(program: Command, host: Host): void {
  program
    .command('describe')
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('show objects in detail')
    .description('Shows objects in detail, with what happened to them. A name may be the beginning of one.')
    .option('-l, --selector <selector>', 'only objects with these labels, as in tier=front,env!=dev')
    .option('-A, --all-namespaces', 'in all namespaces')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { describe } = await import('./commands/describe.ts')
      await describe(host, resources, command.optsWithGlobals())
    })
}

function addCreate(program: Command, host: Host): void {
  withManifests(program.command('create'))
    .summary('create objects from files')
    .description('Creates the objects of files: JSON or YAML, the oldest form (v1beta1) too.')
    .action(async (_options, command: Command) => {
      const { create } = await import('./commands/create.ts')
      await create(host, command.optsWithGlobals())
    })
}

function addApply(program: Command, host: Host): void {
  withManifests(program.command('apply'))
    .summary('make objects as files say')
    .description('Creates the objects of files, or changes those that are there to what the files say.')
    .action(async (_options, command: Command) => {
      const { apply } = await import('./commands/apply.ts')
      await apply(host, command.optsWithGlobals())
    })
}

function addDelete(program: Command, host: Host): void {
  withSelectors(program.command('delete'))
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .summary('delete objects')
    .description('Deletes objects, and waits until they are gone.')
    .option('-f, --filename <file>', 'delete the objects of this file or directory; repeatable', collect, [])
    .option('-R, --recursive', 'take directories with all below them')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--all', 'all objects of the type')
    .addOption(
      new Option('--cascade [mode]', 'what happens to dependents')
        .choices(['background', 'foreground', 'orphan'])
        .default('background')
        .preset('background'),
    )
    .option('--grace-period <seconds>', 'time to end gracefully; 0 only with --force', integer)
    .option('--force', 'take pods out of the API at once')
    .addOption(booleanOption('--wait [boolean]', 'wait until they are gone', true))
    .option('--timeout <duration>', 'how long to wait, such as 30s (0s: as long as it takes)', '0s')
    .option('--ignore-not-found', 'count an object that is not there as deleted')
    .addOption(dryRunOption())
    .addOption(outputOption(['name']))
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { deleteObjects } = await import('./commands/delete.ts')
      await deleteObjects(host, resources, command.optsWithGlobals())
    })
}

function addLogs(program: Command, host: Host): void {
  program
    .command('logs')
    .argument('<pod>', 'POD or TYPE/NAME')
    .argument('[container]', 'the container, where the pod has several')
    .summary('print what a container writes')
    .description('Prints what a container of a pod has written.')
    .option('-c, --container <name>', 'the container, where the pod has several')
    .option('-f, --follow', 'go on as it writes more')
    .option('-p, --previous', 'of the run before the present one')
    .option('--tail <lines>', 'only the last lines (-1: all)', integer)
    .option('--since <duration>', 'only what is newer, such as 5m')
    .option('--since-time <time>', 'only what is newer than this time (RFC 3339)')
    .option('--timestamps', 'with the time of each line')
    .option('--limit-bytes <bytes>', 'stop after this much', positiveInteger)
    .action(async (pod: string, container: string | undefined, _options, command: Command) => {
      const { logs } = await import('./commands/logs.ts')
      await logs(host, pod, { ...(container === undefined ? {} : { container }), ...command.optsWithGlobals() })
    })
}

function withSelectors(command: Command): Command {
  return command
    .option('-l, --selector <selector>', 'only objects with these labels, as in tier=front,env!=dev')
    .option('--field-selector <selector>', 'only objects with these fields, as in status.phase=Running')
}

function withManifests(command: Command): Command {
  return command
    .requiredOption('-f, --filename <file>', 'file or directory to read (- reads standard input); repeatable', collect)
    .option('-R, --recursive', 'take directories with all below them')
    .addOption(
      new Option('--validate <mode>', 'what happens to unknown fields')
        .choices(['strict', 'warn', 'ignore'])
        .default('strict'),
    )
    .addOption(dryRunOption())
    .addOption(outputOption(['name', 'json', 'yaml']))
}

const outputOption = (formats: readonly string[]): Option =>
  new Option('-o, --output <format>', 'format').choices(formats)

const dryRunOption = (): Option =>
  new Option('--dry-run <mode>', 'only check: here (client) or by the server, which stores nothing')
    .choices(['none', 'client', 'server'])
    .default('none')

function booleanOption(flags: string, description: string, value: boolean): Option {
  return new Option(flags, description)
    .argParser((text) => text !== 'false')
    .default(value)
    .preset('true')
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

const collectCommas = (value: string, previous: readonly string[]): readonly string[] => [
  ...previous,
  ...value.split(','),
]

function integer(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError(notNumber(text))
  return Number(text)
}

function positiveInteger(text: string): number {
  const value = integer(text)
  if (value < 1) throw new InvalidArgumentError(`"${text}" is too small: it must be 1 or more`)
  return value
}

function portNumber(text: string): number {
  const value = integer(text)
  if (value < 0 || value > 65_535) throw new InvalidArgumentError(`"${text}" is no port`)
  return value
}

const notNumber = (text: string): string => `"${text}" is no whole number`
