import { Argument, type Command, Option } from 'commander'
import { UsageError } from '../cli-error.ts'
import type { ConnectionFlags } from '../connection.ts'
import type { Host } from '../host.ts'
import { showHelp } from '../manual/help-arguments.ts'
import { collect, collectCommas, switchOption } from '../option-values.ts'
import { refusesArguments, unexpectedArguments, withExamples } from '../refusals.ts'
import { objectFormatsText, ownFlags, withPrinting } from './shared-options.ts'

/** Adds `config`, which shows and changes kubeconfig files, and `kuberc`, which does so with preferences. */
export function addConfigVerbs(program: Command, host: Host): void {
  const completion = program.command('completion')
  refusesArguments(completion, (args) =>
    withExamples(
      completion,
      args.length === 0 ? 'Shell not specified.' : 'Too many arguments. Expected only the shell type.',
    ),
  )
    .argument('<shell>', 'bash, zsh or fish')
    .summary('teach a shell to complete command lines')
    .description(
      'Prints what a shell reads to complete command lines: commands, flags, types, and the names of what is there.',
    )
    .action(async (shell: string) => {
      const { printCompletionScript } = await import('../commands/completion.ts')
      printCompletionScript(host, shell)
    })
  program
    .command('plugin')
    .summary('programs on PATH that are commands, too')
    .description(
      'Programs on PATH whose names begin with coracle- or kubectl- are run as commands: kubectl-foo as coracle foo.',
    )
    .command('list')
    .summary('list the plugins on PATH')
    .description('Lists the plugins on PATH, with what keeps one from being run.')
    .option('--name-only', 'names without directories')
    .allowExcessArguments()
    .action(async (options: { readonly nameOnly?: boolean }) => {
      const { listPlugins } = await import('../plugins/list-plugins.ts')
      await listPlugins(host, program, options)
    })
  program
    .command('options')
    .summary('list the options that every command has')
    .description('Lists the options that every command has.')
    .allowExcessArguments()
    .action(async () => {
      const { listOptions } = await import('../commands/options.ts')
      listOptions(host, program)
    })
  const config = program
    .command('config')
    .summary('show and change kubeconfig files')
    .description(
      'Shows and changes kubeconfig files. An entry is changed in the file it stands in; a new one goes to the first file of ' +
        '$KUBECONFIG that is there, or else the last.',
    )
  addReading(config, host)
  addContexts(config, host)
  addEntries(config, host)
  addProperties(config, host)
  addPreferences(program, host)
}

function addPreferences(program: Command, host: Host): void {
  const kuberc = program
    .command('kuberc')
    .summary('show and change preferences')
    .description(
      'Shows and changes preferences, which are in a file beside the kubeconfig: values that flags of commands have where none is given, and ' +
        'aliases of commands.',
    )
  withPrinting(kuberc.command('view'))
    .allowExcessArguments()
    .summary('print the preferences')
    .description('Prints the preferences; where there is no file of them, it offers to write one.')
    .addOption(new Option('-o, --output <format>', objectFormatsText).default(undefined, 'yaml'))
    .action(async (_options, command: Command) => {
      const { viewPreferences } = await import('../commands/kuberc.ts')
      await viewPreferences(host, command.optsWithGlobals())
    })
  kuberc
    .command('set')
    .allowExcessArguments()
    .summary('change the preferences')
    .description(
      'Chooses values for flags of a command, or makes an alias of it, or says which credential plugins may run.',
    )
    .option('--section <name>', 'what to change: defaults, aliases or credentialplugin')
    .option('--command <words>', 'the command, as get or set image')
    .option('--name <name>', 'name of the alias')
    .option('--option <pair>', 'FLAG=VALUE: what a flag is where it is not given; repeatable', collect)
    .option('--prependarg <argument>', 'argument of the alias before those that are given; repeatable', collect)
    .option('--appendarg <argument>', 'argument of the alias behind those that are given; repeatable', collect)
    .option('--policy <name>', 'which credential plugins may run: AllowAll, DenyAll or Allowlist')
    .option('--allowlist-entry <pair>', 'command=COMMAND: one that may; repeatable', collect)
    .option('--overwrite', 'also where there is such an entry')
    .action(async (_options, command: Command) => {
      const { setPreferences } = await import('../commands/kuberc.ts')
      await setPreferences(host, ownFlags(command))
    })
}

function addReading(config: Command, host: Host): void {
  const view = withPrinting(config.command('view'))
  refusesArguments(view, unexpectedArguments(view))
    .summary('print the kubeconfig, files merged')
    .description('Prints the kubeconfig, merged from all files, without secrets.')
    .addOption(new Option('-o, --output <format>', objectFormatsText).default(undefined, 'yaml'))
    .option('--raw', 'with secrets and certificates')
    .option('--flatten', 'with what files hold in place of their names, and with secrets')
    .option('--minify', 'only what the current context takes')
    .addOption(switchOption('--merge [boolean]', 'all files; false: only the one that --kubeconfig names', true))
    .action(async (_options, command: Command) => {
      const { viewConfig } = await import('../commands/config/view.ts')
      await viewConfig(host, command.optsWithGlobals())
    })
  config
    .command('current-context')
    .allowExcessArguments()
    .summary('print the current context')
    .description('Prints the name of the current context.')
    .action(async (_options, command: Command) => {
      const { showCurrentContext } = await import('../commands/config/contexts.ts')
      await showCurrentContext(host, command.optsWithGlobals())
    })
  config
    .command('get-contexts')
    .argument('[names...]', 'only these')
    .summary('list contexts')
    .description('Lists the contexts of the kubeconfig; the current one is marked.')
    .option('-o, --output <format>', 'name')
    .option('--no-headers', 'leave the headers out')
    .action(async (names: readonly string[], _options, command: Command) => {
      const { getContexts } = await import('../commands/config/contexts.ts')
      await getContexts(host, names, command.optsWithGlobals())
    })
  for (const list of ['clusters', 'users'] as const) {
    config
      .command(`get-${list}`)
      .allowExcessArguments()
      .summary(`list ${list}`)
      .description(`Lists the ${list} of the kubeconfig.`)
      .action(async (_options, command: Command) => {
        const { listNames } = await import('../commands/config/contexts.ts')
        await listNames(host, list, command.optsWithGlobals())
      })
  }
}

function addContexts(config: Command, host: Host): void {
  refusesArguments(config.command('use-context'), unexpected)
    .alias('use')
    .argument('<name>', 'the context to work with from now on')
    .summary('change the current context')
    .description('Makes a context the current one.')
    .action(async (name: string, _options, command: Command) => {
      const { useContext } = await import('../commands/config/contexts.ts')
      await useContext(host, name, command.optsWithGlobals())
    })
  refusesArguments(config.command('rename-context'), unexpected)
    .argument('<old>', 'its present name')
    .argument('<new>', 'its name from now on')
    .summary('give a context another name')
    .description('Gives a context another name.')
    .action(async (from: string, to: string, _options, command: Command) => {
      const { renameContext } = await import('../commands/config/contexts.ts')
      await renameContext(host, from, to, command.optsWithGlobals())
    })
  for (const [list, noun] of [
    ['contexts', 'context'],
    ['clusters', 'cluster'],
    ['users', 'user'],
  ] as const) {
    config
      .command(`delete-${noun}`)
      .usage('[options] <name>')
      .argument('[name]', `the ${noun}`)
      .allowExcessArguments()
      .summary(`take a ${noun} out`)
      .description(`Takes a ${noun} out of the kubeconfig.`)
      .action(async (name: string | undefined, _options, command: Command) => {
        if (name === undefined || command.args.length > 1) {
          // As kubectl has it: it refuses that for users alone.
          if (list !== 'users') return showHelp(command)
          throw new UsageError(`${noun} to delete is required`)
        }
        const { deleteEntry } = await import('../commands/config/contexts.ts')
        await deleteEntry(host, list, name, command.optsWithGlobals())
      })
  }
}

const unexpected = (args: readonly string[]): string => `Unexpected args: [${args.join(' ')}]`

function addEntries(config: Command, host: Host): void {
  refusesArguments(config.command('set-context'), unexpected)
    .addArgument(new Argument('[name]', 'the context'))
    .summary('add or change a context')
    .description('Adds a context, or changes one, by --cluster, --user and --namespace.')
    .option('--current', 'the current context')
    .action(async (name: string | undefined, _options, command: Command) => {
      const { setContext } = await import('../commands/config/set-entries.ts')
      await setContext(host, name, command.optsWithGlobals())
    })
  refusesArguments(config.command('set-cluster'), unexpected)
    .argument('<name>', 'the cluster')
    .summary('add or change a cluster')
    .description(
      'Adds a cluster, or changes one, by --server, --certificate-authority, --tls-server-name and --insecure-skip-tls-verify.',
    )
    .addOption(switchOption('--insecure-skip-tls-verify [boolean]', "take any certificate for the server's"))
    .addOption(switchOption('--embed-certs [boolean]', 'with the content of the certificate in place of its path'))
    .option('--proxy-url <url>', 'the proxy in front of it, for clients that take one')
    .action(async (name: string, _options, command: Command) => {
      const { setCluster } = await import('../commands/config/set-entries.ts')
      await setCluster(host, name, ownFlags(command))
    })
  refusesArguments(config.command('set-credentials'), (args) => `unexpected args: [${args.join(' ')}]`)
    .argument('<name>', 'the user')
    .summary('add or change a user')
    .description(
      'Adds a user, or changes one, by --token, --client-certificate, --client-key, --username, --password or a plugin.',
    )
    .addOption(
      switchOption('--embed-certs [boolean]', 'with the content of certificate and key in place of their paths'),
    )
    .option('--auth-provider <name>', 'a provider of old clients')
    .option(
      '--auth-provider-arg <pairs>',
      'NAME=VALUE for it, or NAME- to take one away; repeatable',
      collectCommas,
      [],
    )
    .option('--exec-command <command>', 'the plugin that gives credentials')
    .option('--exec-api-version <version>', 'what it speaks, as client.authentication.k8s.io/v1')
    .option('--exec-arg <arguments>', 'its arguments; repeatable', collectCommas, [])
    .option('--exec-env <pairs>', 'NAME=VALUE for its environment, or NAME- to take one away; repeatable', collect, [])
    .option('--exec-interactive-mode <mode>', 'whether it may ask: Never, IfAvailable or Always')
    .addOption(switchOption('--exec-provide-cluster-info [boolean]', 'whether it is told of the cluster'))
    .action(async (name: string, _options, command: Command) => {
      const { setCredentials } = await import('../commands/config/set-entries.ts')
      await setCredentials(host, name, command.optsWithGlobals())
    })
}

function addProperties(config: Command, host: Host): void {
  refusesArguments(config.command('set'), unexpected)
    .argument('<property>', 'as users.me.token or current-context')
    .argument('<value>', 'its value')
    .summary('set one field')
    .description(
      'Sets one field of the kubeconfig: users.NAME.FIELD, clusters.NAME.FIELD, contexts.NAME.FIELD or current-context.',
    )
    .addOption(switchOption('--set-raw-bytes [boolean]', 'take the value as it is, and not in base64'))
    .action(async (property: string, value: string, _options, command: Command) => {
      const { setConfig } = await import('../commands/config/properties.ts')
      await setConfig(host, property, value, command.optsWithGlobals())
    })
  refusesArguments(config.command('unset'), unexpected)
    .argument('<property>', 'as users.me.token, users.me or current-context')
    .summary('take one field, or an entry, out')
    .description('Takes one field, or a whole entry, out of the kubeconfig.')
    .action(async (property: string, _options, command: Command) => {
      const { unsetConfig } = await import('../commands/config/properties.ts')
      await unsetConfig(host, property, command.optsWithGlobals<ConnectionFlags>())
    })
}
