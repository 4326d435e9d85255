import { Command, CommanderError, Option } from 'commander'
import { normalizeArguments } from './arguments.ts'
import type { DoctorFlags } from './commands/doctor.ts'
import type { UpFlags } from './commands/up.ts'
import { describeError } from './describe-error.ts'
import type { Host } from './host.ts'
import { serverSideFieldManager } from './manifests/field-managers.ts'
import { collect, collectCommas, durationOption, switchOption, wholeNumber } from './option-values.ts'
import { ownVersion } from './own-version.ts'
import { refuseFlagsOfNpm } from './up/npm-flags.ts'

/** More nodes than this are not asked for by anyone who knows what they do to memory. */
export const nodesMax = 100_000

/** Objects asked for in one request, as in kubectl. */
const chunkSizeDefault = 500

/** Runs `coracle` with these arguments and returns the exit code: 0, or 1 after a message on standard error. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  const program = createProgram(host)
  try {
    const given = args.length === 0 ? ['--help'] : args
    await program.parseAsync(normalizeArguments(given, program), { from: 'user' })
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
    .version(`coracle ${ownVersion()}`, '--version', 'show the version of this program')
    .option(
      '--kubeconfig <file>',
      'kubeconfig to use (default: $KUBECONFIG, .coracle/kubeconfig here or above, ~/.kube/config)',
    )
    .option('--context <name>', 'context of the kubeconfig to use')
    .option('--cluster <name>', 'cluster of the kubeconfig to use')
    .option('--user <name>', 'user of the kubeconfig to use')
    .option('-n, --namespace <name>', 'namespace of what is named')
    .option('-s, --server <url>', 'address of the server')
    .option('--token <token>', 'bearer token to use')
    .option('--certificate-authority <file>', 'certificate of the authority that vouches for the server')
    .option('--client-certificate <file>', 'certificate to use')
    .option('--client-key <file>', 'its key')
    .option('--tls-server-name <name>', "name in the server's certificate")
    .option('--insecure-skip-tls-verify', "take any certificate for the server's")
    .configureHelp({ showGlobalOptions: true, optionDescription })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    })
    .exitOverride()
    .showSuggestionAfterError()
  for (const add of [addUp, addDoctor, addGet, addDescribe, addCreate, addApply, addDelete, addLogs, addDiscovery])
    add(program, host)
  return program
}

function addUp(program: Command, host: Host): void {
  program
    .command('up')
    .argument('[files...]', 'files or directories to apply, as with -f')
    .summary('start a cluster here')
    .description('Starts a cluster in this process and tells what happens in it, until Ctrl-C.')
    .option('-f, --filename <file>', `apply what this file or directory says (${stdinText}); repeatable`, collect, [])
    .option('-R, --recursive', 'take directories with all below them')
    .option('--data-dir <directory>', 'where everything is kept', '.coracle')
    .option('--memory', 'keep objects in memory only: they are gone afterwards')
    .option('--store <url>', 'share objects with other servers: etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT][/PREFIX]')
    .option('--etcd-servers <urls>', 'the same, as https://HOST:PORT,…', collectCommas)
    .option('--etcd-prefix <prefix>', 'what all keys in etcd begin with, before /registry')
    .option('--etcd-cafile <file>', 'certificate authority of etcd (PEM)')
    .option('--etcd-certfile <file>', 'certificate to show to etcd (PEM)')
    .option('--etcd-keyfile <file>', 'its key (PEM)')
    .addOption(
      durationOption(
        '--leader-elect-lease-duration <duration>',
        'when another server takes over from a silent one',
        '15s',
      ),
    )
    .addOption(
      durationOption('--leader-elect-renew-deadline <duration>', 'when a leader gives up that is cut off', '10s'),
    )
    .addOption(durationOption('--leader-elect-retry-period <duration>', 'how often servers try to lead', '2s'))
    .option('--listen <address>', 'address to serve the API on', '127.0.0.1')
    .option(
      '--port <number>',
      'port to serve the API on; 0 picks a free one',
      wholeNumber({ noun: 'port', min: 0, max: 65_535 }),
      6443,
    )
    .option(
      '--nodes <count>',
      'how many nodes to have; 0: only a control plane',
      wholeNumber({ min: 0, max: nodesMax }),
      1,
    )
    .option('--node-prefix <text>', 'what names of nodes begin with (node-, or the host name where objects are shared)')
    .addOption(
      new Option('--runtime <name>', 'what containers are').choices(['process', 'simulated']).default('process'),
    )
    .action(async (files: readonly string[], _options, command: Command) => {
      refuseFlagsOfNpm(
        host.variables,
        command.options.map(({ long }) => long).filter((long) => typeof long === 'string'),
      )
      const { up } = await import('./commands/up.ts')
      const flags = command.optsWithGlobals<UpFlags>()
      await up(host, { ...flags, filename: [...flags.filename, ...files] })
    })
}

function addDoctor(program: Command, host: Host): void {
  program
    .command('doctor')
    .summary('examine what a cluster has stored')
    .description('Reads everything that a stopped cluster has stored, and says what is damaged.')
    .option('--data-dir <directory>', 'where everything is kept', '.coracle')
    .option('--repair', 'go on without what is damaged: it is lost')
    .action(async (_options, command: Command) => {
      const { doctor } = await import('./commands/doctor.ts')
      await doctor(host, command.optsWithGlobals<DoctorFlags>())
    })
}

function addGet(program: Command, host: Host): void {
  withFiles(withSelectors(program.command('get')), 'show')
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('list objects')
    .description('Lists objects, or shows those that are named.')
    .option(
      '-o, --output <format>',
      'wide, json, yaml, name, jsonpath=, jsonpath-as-json=, jsonpath-file=, custom-columns= or custom-columns-file=',
    )
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-w, --watch', 'go on with what changes')
    .option('--watch-only', 'only what changes from now on')
    .option('--sort-by <path>', 'in order of a field, such as .metadata.name')
    .option('-L, --label-columns <keys>', 'add columns with these labels', collectCommas, [])
    .option('--show-labels', 'add a column with all labels')
    .option('--show-kind', 'names with their kind')
    .option('--no-headers', 'leave the headers out')
    .option('--ignore-not-found', 'say nothing of objects that are not there')
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .addOption(
      switchOption('--allow-missing-template-keys [boolean]', 'take a field that is nowhere for nothing', true),
    )
    .addOption(chunkSizeOption())
    .option('--raw <path>', 'print what the server has under a path')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { get } = await import('./commands/get.ts')
      await get(host, resources, command.optsWithGlobals())
    })
}

function addDescribe(program: Command, host: Host): void {
  withFiles(program.command('describe'), 'show')
    .argument('[resources...]', 'TYPE[,TYPE] [NAME...] or TYPE/NAME...')
    .summary('show objects in detail')
    .description('Shows objects in detail, with what happened to them. A name may be the beginning of one.')
    .option('-l, --selector <selector>', labelSelectorText)
    .option('-A, --all-namespaces', 'in all namespaces')
    .addOption(switchOption('--show-events [boolean]', 'with what happened to them', true))
    .addOption(chunkSizeOption())
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { describe } = await import('./commands/describe.ts')
      await describe(host, resources, command.optsWithGlobals())
    })
}

function addCreate(program: Command, host: Host): void {
  withManifests(program.command('create'))
    .option('--save-config', 'note in the object what was created, for apply')
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
    .option('--server-side', 'let the server merge, which knows who set which field')
    .option('--force-conflicts', 'with --server-side: take over fields that others set')
    .option('--field-manager <name>', 'with --server-side: who applies', serverSideFieldManager)
    .action(async (_options, command: Command) => {
      const { apply } = await import('./commands/apply.ts')
      await apply(host, command.optsWithGlobals())
    })
}

function addDelete(program: Command, host: Host): void {
  withFiles(withSelectors(program.command('delete')), 'delete')
    .argument('[resources...]', 'TYPE NAME..., TYPE/NAME... or, with -l or --all, TYPE')
    .summary('delete objects')
    .description('Deletes objects, and waits until they are gone.')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--all', 'all objects of the type')
    .addOption(
      new Option('--cascade [mode]', 'what happens to dependents: background, foreground or orphan')
        .default('background')
        .preset('background'),
    )
    .option('--grace-period <seconds>', 'time to end gracefully; 0 only with --force', wholeNumber())
    .option('--now', 'give it one second to end')
    .option('--force', 'take pods out of the API at once')
    .addOption(switchOption('--wait [boolean]', 'wait until they are gone', true))
    .option('--timeout <duration>', 'how long to wait, such as 30s (0s: as long as it takes)', '0s')
    .option('--ignore-not-found', 'count an object that is not there as deleted')
    .addOption(dryRunOption())
    .option('-o, --output <format>', 'name')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { deleteObjects } = await import('./commands/delete.ts')
      await deleteObjects(host, resources, command.optsWithGlobals())
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
    .option('-l, --selector <selector>', 'the pods with these labels')
    .option('-f, --follow', 'go on as they write more')
    .option('--max-log-requests <count>', 'how many logs to follow at most', wholeNumber({ min: 1 }), 5)
    .option('-p, --previous', 'of the run before the present one')
    .option('--prefix', 'with the pod and the container before each line')
    .option('--tail <lines>', 'only the last lines (-1: all; with -l: 10)', wholeNumber())
    .option('--since <duration>', 'only what is newer, such as 5m')
    .option('--since-time <time>', 'only what is newer than this time (RFC 3339)')
    .option('--timestamps', 'with the time of each line')
    .option('--limit-bytes <bytes>', 'stop after this much', wholeNumber({ min: 0 }))
    .option('--ignore-errors', 'go on with the next log where one cannot be read')
    .action(async (pod: string | undefined, containers: readonly string[], _options, command: Command) => {
      const { logs } = await import('./commands/logs.ts')
      await logs(host, pod === undefined ? [] : [pod, ...containers], command.optsWithGlobals())
    })
}

function addDiscovery(program: Command, host: Host): void {
  program
    .command('api-resources')
    .summary('list the types of objects the server has')
    .description('Lists the types of objects the server has.')
    .option('--api-group <name>', "only this group's ('' is the core group)")
    .addOption(switchOption('--namespaced [boolean]', 'only types whose objects are in namespaces; false: only others'))
    .option('--verbs <verbs>', 'only types that support all of these', collectCommas, [])
    .option('--categories <names>', 'only types of these categories', collectCommas, [])
    .addOption(new Option('--sort-by <column>', 'in order of this').choices(['name', 'kind']))
    .option('--no-headers', 'leave the headers out')
    .option('-o, --output <format>', 'wide or name')
    .action(async (_options, command: Command) => {
      const { apiResources } = await import('./commands/api-resources.ts')
      await apiResources(host, command.optsWithGlobals())
    })
  program
    .command('api-versions')
    .summary('list the versions of the API the server has')
    .description('Lists the versions of the API the server has, as GROUP/VERSION.')
    .action(async (_options, command: Command) => {
      const { apiVersions } = await import('./commands/api-versions.ts')
      await apiVersions(host, command.optsWithGlobals())
    })
  program
    .command('version')
    .summary('show which versions these are')
    .description('Shows the versions of this program and of the server.')
    .option('--client', "only this program's")
    .option('-o, --output <format>', 'json or yaml')
    .action(async (_options, command: Command) => {
      const { version } = await import('./commands/version.ts')
      await version(host, command.optsWithGlobals())
    })
}

/** An option in help: what it does, and its default where that says something. */
function optionDescription({ description, argChoices, defaultValue }: Option): string {
  const notes = [
    ...(argChoices === undefined ? [] : [argChoices.join(', ')]),
    ...(['string', 'number'].includes(typeof defaultValue) ? [`default: ${defaultValue}`] : []),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`
}

const stdinText = '- reads standard input'
const labelSelectorText = 'only objects with these labels, as in tier=front,env!=dev'

function withSelectors(command: Command): Command {
  return command
    .option('-l, --selector <selector>', labelSelectorText)
    .option('--field-selector <selector>', 'only objects with these fields, as in status.phase=Running')
}

function withFiles(command: Command, verb: string): Command {
  return command
    .option('-f, --filename <file>', `${verb} the objects of this file or directory; repeatable`, collect, [])
    .option('-R, --recursive', 'take directories with all below them')
}

function withManifests(command: Command): Command {
  return command
    .requiredOption('-f, --filename <file>', `file, directory or URL to read (${stdinText}); repeatable`, collect)
    .option('-R, --recursive', 'take directories with all below them')
    .addOption(
      new Option('--validate [mode]', 'what happens to unknown fields')
        .choices(['strict', 'warn', 'ignore', 'true', 'false'])
        .default('strict')
        .preset('strict'),
    )
    .option('-l, --selector <selector>', labelSelectorText)
    .addOption(dryRunOption())
    .option('-o, --output <format>', 'json, yaml, name, jsonpath=, jsonpath-as-json= or jsonpath-file=')
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
}

const dryRunOption = (): Option =>
  new Option('--dry-run [mode]', 'only check: here (client) or by the server, which stores nothing')
    .choices(['none', 'client', 'server'])
    .default('none')
    .preset('client')

const chunkSizeOption = (): Option =>
  new Option('--chunk-size <objects>', 'objects asked for in one request; 0: all of them')
    .argParser(wholeNumber({ min: 0 }))
    .default(chunkSizeDefault)
