import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { commandOf, commandWords, namesNothing, normalizeArguments, strayWord } from './arguments.ts'
import { CliError, ExitError, PrintError, UsageError } from './cli-error.ts'
import { describeError } from './describe-error.ts'
import type { Host } from './host.ts'
import { mayAskForHelp } from './manual/help-arguments.ts'
import { collect, durationText, keepsEmpty, wholeNumber } from './option-values.ts'
import { ownVersion } from './own-version.ts'
import { withExamples } from './refusals.ts'
import { refuseValues } from './refused-value.ts'
import { UsageCommand } from './usage-command.ts'

/** Runs `coracle` with these arguments and returns the exit code: 0, 1 after a message on standard error, or another that the command's help names. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  if (!mayHavePreferences(args, host)) return runLine(args, host)
  try {
    const { applyPreferences } = await import('./preferences/apply-preferences.ts')
    const preferred = await applyPreferences(host, args, () => createProgram(host))
    return await runLine(preferred.args, preferred.host)
  } catch (error) {
    host.stderr.write(`${describeError(error)}\n`)
    return 1
  }
}

/** Whether somebody's preferences may have something to say: a file of them is named, or is where it would be by itself. */
function mayHavePreferences(args: readonly string[], { variables, homeDirectory }: Host): boolean {
  if (args.length === 0 || variables.KUBECTL_KUBERC?.toLowerCase() === 'false') return false
  const isNamed = (variables.KUBERC ?? '') !== '' || args.some((arg) => arg.includes('--kuberc'))
  return isNamed || existsSync(join(homeDirectory, '.kube', 'kuberc'))
}

/** As kubectl 1.35 calls it, where `kuberc` was a command to try out. */
const withoutAlpha = (args: readonly string[]): readonly string[] =>
  args[0] === 'alpha' && args[1] === 'kuberc' ? args.slice(1) : args

async function runLine(line: readonly string[], host: Host): Promise<number> {
  const args = withoutAlpha(line)
  const program = await createProgram(host, args)
  if (args[0] === '__complete') {
    const { printCompletion } = await import('./completion/complete.ts')
    await printCompletion(host, program, args.slice(1))
    return 0
  }
  try {
    const stray = strayWord(args, program)
    const pluginWords = leastPluginWords(program, args)
    if (pluginWords !== undefined) {
      const { runPlugin } = await import('./plugins/run-plugin.ts')
      if (await runPlugin(host, args, pluginWords)) return 0
    }
    if (stray !== undefined) throw (await import('./unknown-command.ts')).unknownCommand(args, program, stray)
    const given = namesNothing(args, program) ? [...args, '--help'] : args
    if (mayAskForHelp(given)) (await import('./manual/manual.ts')).addManual(program)
    await program.parseAsync(normalizeArguments(given, program), { from: 'user' })
    return 0
  } catch (error) {
    // The parser has already said what is wrong, and has shown its help where that was asked for.
    if (error instanceof CommanderError) return error.exitCode
    const shown = error instanceof ExitError ? (error.failure ?? error) : error
    const printed = printedBefore(shown)
    if (printed !== '') host.stdout.write(printed)
    const text = describeError(shown)
    const command = shown instanceof UsageError ? commandOf(args, program) : undefined
    if (text !== '') host.stderr.write(`${command === undefined ? text : withExamples(command, text)}\n`)
    return error instanceof ExitError ? error.code : 1
  }
}

/** What was printed when it failed. */
function printedBefore(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(printedBefore).join('')
  return error instanceof PrintError ? error.printed : ''
}

type AddVerbs = (program: Command, host: Host, args: readonly string[]) => void

/** Groups of commands in the order of help, and what adds them. */
const groups: readonly (readonly [string, () => Promise<AddVerbs>])[] = [
  ['Clusters of this machine:', async () => (await import('./verbs/cluster.ts')).addClusterVerbs],
  ['Other machines as nodes:', async () => (await import('./verbs/machines.ts')).addMachineVerbs],
  ['See what there is:', async () => (await import('./verbs/reading.ts')).addReadingVerbs],
  ['Create objects:', async () => (await import('./verbs/creating.ts')).addCreatingVerbs],
  ['Create, change and delete by files:', async () => (await import('./verbs/writing.ts')).addWritingVerbs],
  ['Change objects:', async () => (await import('./verbs/changing.ts')).addChangingVerbs],
  ['Roll out:', async () => (await import('./verbs/workloads.ts')).addWorkloadVerbs],
  ['Work in containers:', async () => (await import('./verbs/streams.ts')).addStreamVerbs],
  ['Nodes:', async () => (await import('./verbs/nodes.ts')).addNodeVerbs],
  ['Before it is done:', addPlanning],
  ['The server:', async () => (await import('./verbs/server.ts')).addServerVerbs],
  ['Which cluster, and as whom:', async () => (await import('./verbs/config.ts')).addConfigVerbs],
]

async function addPlanning(): Promise<AddVerbs> {
  const { addPlanningVerbs } = await import('./verbs/planning.ts')
  return (program, host) => addPlanningVerbs(program, host, run)
}

/** `--cascade=true`, as of old, is told to be no longer the way to say it. */
function warnOfTruthValue({ stderr }: Host, command: Command): void {
  const value: unknown = command.getOptionValue('cascade')
  if (value !== 'true' && value !== 'false') return
  stderr.write(
    `warning: --cascade=${value} is deprecated (boolean value) and can be replaced with --cascade=${value === 'true' ? 'background' : 'orphan'}.\n`,
  )
}

/** An empty value of a flag that may be left out is none, as with kubectl's. */
function takeEmptyForUnset(command: Command): void {
  // Commands that kubectl does not have say themselves that something is missing; those of a kubeconfig take things away so.
  if (command.options.some(({ long }) => long === '--data-dir') || command.parent?.name() === 'config') return
  for (const option of command.options) {
    const name = option.attributeName()
    const mayBeUnset = option.required && option.defaultValue === undefined && !keepsEmpty(option)
    const value: unknown = mayBeUnset ? command.getOptionValue(name) : undefined
    if (typeof value === 'string' && value.trim() === '') command.setOptionValue(name, undefined)
  }
}

/** Commands with which kubectl makes a client first, and asks for the namespace of the context after that, if at all. */
const clientFirst: ReadonlySet<string> = new Set([
  ...['api-resources', 'api-versions', 'apply', 'auth can-i', 'auth whoami', 'autoscale', 'certificate approve'],
  ...['certificate deny', 'cluster-info', 'cluster-info dump', 'cordon', 'diff', 'drain', 'explain', 'expose'],
  ...['proxy', 'replace', 'run', 'set env', 'top node', 'uncordon', 'version', 'wait'],
])

/** Notes whether kubectl makes a client first, for what is said of a context that there is not. */
function noteOrder(command: Command): void {
  const words = commandWords(command)
  const [verb, noun] = words
  // What is edited is looked for as `edit` does, and a path alone is in no namespace.
  const makesClientFirst =
    (verb === 'create' && noun !== 'token' && command.getOptionValue('edit') !== true) ||
    (verb === 'get' && command.getOptionValue('raw') !== undefined) ||
    clientFirst.has(words.join(' '))
  if (makesClientFirst) command.setOptionValue('makesClientFirst', true)
}

/** Flags of kubectl's that have nothing to do here, with kubectl's defaults; what they cannot be is refused as there. */
const idleFlags: readonly Option[] = [
  idle('--cache-dir <directory>'),
  idle('--disable-compression'),
  idle('--log-flush-frequency <duration>').argParser(flushFrequency).default('5s'),
  idle('--profile <name>').argParser(profileName).default('none'),
  idle('--profile-output <file>').default('profile.pprof'),
  idle('--vmodule <pattern>').argParser(logPatterns),
]

function idle(flags: string): Option {
  return new Option(flags, 'accepted, and does nothing')
}

function flushFrequency(text: string): string {
  try {
    return durationText(text)
  } catch {
    throw new InvalidArgumentError('parse error')
  }
}

const profiles = ['none', 'cpu', 'heap', 'goroutine', 'threadcreate', 'block', 'mutex', 'trace']

function profileName(text: string): string {
  if (profiles.includes(text)) return text
  throw new CliError(`unknown profile '${text}'`)
}

/** `file=2,other*=3` */
function logPatterns(text: string): string {
  for (const [, name, level = ''] of text.split(',').map((each) => /^([^=]*)=(.*)$/s.exec(each) ?? [])) {
    if (text === '') break
    if (!name || !/^[+-]?\d+$/.test(level)) {
      throw new InvalidArgumentError('syntax error: expect comma-separated list of filename=N')
    }
    if (Number(level) < 0) throw new InvalidArgumentError('negative value for vmodule level')
  }
  return text
}

/**
 * The commands and their flags. What a command does is loaded when it is the one to run: nothing here may import more
 * than the parser. Where the first of `args` names a command, those of later groups are left out, and not loaded: to make all of them
 * takes a fifth of the CPU of a command that prints something of its own. Who wants to see all commands gives no arguments.
 */
export async function createProgram(host: Host, args: readonly string[] = []): Promise<Command> {
  const program = new UsageCommand('coracle')
    .description('Kubernetes in one process: starts a cluster, and works with this or any other.')
    .version(`coracle ${ownVersion()}`, '--version', 'show the version of this program')
    .option(
      '--kubeconfig <file>',
      'kubeconfig to use (default: $KUBECONFIG, .coracle/kubeconfig here or above, ~/.kube/config)',
    )
    .option('--kuberc <file>', 'file of preferences to use (default: $KUBERC, ~/.kube/kuberc); KUBERC=off: none')
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
    .option('--username <name>', 'name for basic authentication')
    .option('--password <password>', 'its password')
    .option('--as <name>', 'act as this user, who may be a service account')
    .option('--as-group <group>', 'act as a member of this group; repeatable', collect)
    .option('--as-uid <uid>', 'act as a user of this UID')
    .option('--as-user-extra <pair>', 'act as a user of whom KEY=VALUE is known; repeatable', collect)
    .option('--request-timeout <duration>', 'give up a request after this long, as 30s; 0: never')
    .option('--warnings-as-errors', 'count a warning of the server as a failure')
    .option('--match-server-version', 'refuse a server whose API is of another version than this program')
    .option(
      '-v, --v <level>',
      'tell of requests: 6 lines, 7 headers, 8 bodies, 9 as curl commands',
      wholeNumber({ bits: 32 }),
    )
    .configureHelp({ showGlobalOptions: true, optionDescription })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    })
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError()
  for (const option of idleFlags) program.addOption(option)
  program.hook('preAction', async (_, command) => {
    refuseValues(command)
    warnOfTruthValue(host, command)
    takeEmptyForUnset(command)
    if (command.parent?.name() !== 'config') takeEmptyForUnset(program)
    noteOrder(command)
    if (command.getOptionValue('record') !== true) return
    const { commandText, recordWarning } = await import('./command-text.ts')
    host.stderr.write(recordWarning)
    command.setOptionValue('changeCause', commandText(args, command, program))
  })
  for (const [heading, load] of groups) {
    const add = await load()
    program.commandsGroup(heading)
    add(program, host, args)
    if (!mayAskForHelp(args) && namesCommand(program, args[0])) break
  }
  addHelp(program.commandsGroup('Help:'), host)
  return program
}

function addHelp(program: Command, host: Host): void {
  program
    .command('help')
    .argument('[command...]', 'its words; those after a command that has none of its own say nothing')
    .summary('tell all about a command')
    .description('Tells all about a command.')
    .action(async (words: readonly string[]) => {
      const { helpAbout } = await import('./commands/help.ts')
      helpAbout(host, program, words)
    })
}

/** How many words the name of a plugin has at least that arguments may name: those of `create` are plugins, too. Undefined where they name none. */
function leastPluginWords(program: Command, [first = '-', second = '-']: readonly string[]): number | undefined {
  if (first.startsWith('-') || first === 'help') return undefined
  if (!namesCommand(program, first)) return 1
  const create = first === 'create' ? program.commands.find((command) => command.name() === first) : undefined
  return create === undefined || second.startsWith('-') || namesCommand(create, second) ? undefined : 2
}

const namesCommand = (program: Command, word: string | undefined): boolean =>
  program.commands.some(
    (command) => command.name() === word || (word !== undefined && command.aliases().includes(word)),
  )

/** An option in help: what it does, and its default where that says something. */
export function optionDescription({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const notes = [
    ...(argChoices === undefined ? [] : [argChoices.join(', ')]),
    ...(['string', 'number'].includes(typeof defaultValue)
      ? [`default: ${defaultValueDescription ?? defaultValue}`]
      : []),
  ]
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`
}
