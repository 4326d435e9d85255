import { type Command, Option } from 'commander'
import type { Host } from '../host.ts'
import {
  collectCommas,
  durationText,
  keepEmpty,
  podRunningTimeoutOption,
  switchOption,
  wholeNumber,
} from '../option-values.ts'
import { refusesArguments, unexpectedArguments } from '../refusals.ts'
import { readsValuesLate } from '../refused-value.ts'
import { addCertificateVerbs } from './certificates.ts'
import {
  dryRunOption,
  objectFormatsText,
  outcomeFormatOption,
  withFiles,
  withOutcome,
  withPrinting,
} from './shared-options.ts'

/** Adds the commands that tell what the server is and has. */
export function addServerVerbs(program: Command, host: Host): void {
  const resources = program.command('api-resources')
  refusesArguments(resources, unexpectedArguments(resources))
    .summary('list the types of objects the server has')
    .description('Lists the types of objects the server has.')
    .addOption(keepEmpty(new Option('--api-group <name>', "only this group's ('' is the core group)")))
    .addOption(switchOption('--namespaced [boolean]', 'only types whose objects are in namespaces; false: only others'))
    .option('--verbs <verbs>', 'only types that support all of these', collectCommas, [])
    .option('--categories <names>', 'only types of these categories', collectCommas, [])
    .option('--sort-by <column>', 'in order of this: name or kind')
    .option('--no-headers', 'leave the headers out')
    .option('-o, --output <format>', 'wide, name, json or yaml')
    .option('--cached', 'accepted for the sake of scripts: nothing is cached')
    .option('--show-managed-fields', 'accepted for the sake of scripts: types have none')
    .action(async (_options, command: Command) => {
      const { apiResources } = await import('../commands/api-resources.ts')
      await apiResources(host, command.optsWithGlobals())
    })
  const versions = program.command('api-versions')
  refusesArguments(versions, unexpectedArguments(versions))
    .summary('list the versions of the API the server has')
    .description('Lists the versions of the API the server has, as GROUP/VERSION.')
    .action(async (_options, command: Command) => {
      const { apiVersions } = await import('../commands/api-versions.ts')
      await apiVersions(host, command.optsWithGlobals())
    })
  program
    .command('explain')
    .argument('[type...]', 'TYPE, or TYPE.FIELD for one of its fields')
    .summary('describe a type of object and its fields')
    .description('Describes a type of object, or one of its fields, as the server documents it.')
    .option('-R, --recursive', 'all fields below, without descriptions')
    .option('--api-version <version>', 'in this version, as apps/v1')
    .option('-o, --output <format>', 'plaintext or plaintext-openapiv2', 'plaintext')
    .option('--json-schema', 'the JSON Schema of the type, or of all types, for editors and validators')
    .option('--output-dir <directory>', 'with --json-schema: write a file for each type there')
    .action(async (types: readonly string[], _options, command: Command) => {
      const { explain } = await import('../commands/explain.ts')
      await explain(host, types, command.optsWithGlobals())
    })
  addCertificateVerbs(program, host)
  addClusterInfo(program, host)
  addProxy(program, host)
  const auth = program
    .command('auth')
    .summary('ask about rights, and give them')
    .description('Asks who one is to the server, and what one may do; reconciles roles and bindings.')
  auth
    .command('can-i')
    .argument('[args...]', 'VERB TYPE[/NAME], or VERB /PATH')
    .summary('whether one may do something')
    .description('Prints yes or no; no is exit code 1.')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--list', 'list all that one may do')
    .option('-q, --quiet', 'print nothing')
    .option('--subresource <name>', 'with this part of objects, as status or scale')
    .option('--no-headers', 'leave the headers out')
    .action(async (args: readonly string[], _options, command: Command) => {
      const { canI } = await import('../commands/auth.ts')
      await canI(host, args, command.optsWithGlobals())
    })
  withOutcome(withFiles(readsValuesLate(auth.command('reconcile')), 'reconcile'))
    .summary('give roles and bindings what files say, beside what they have')
    .description(
      'Creates roles and bindings of files, or adds the rules and subjects that they lack. What they have beyond that stays, unless it is to be removed.',
    )
    .option('--remove-extra-permissions', 'take rules away that the file does not have')
    .option('--remove-extra-subjects', 'take subjects away that the file does not have')
    .addOption(dryRunOption('error accessing --dry-run flag for command reconcile: '))
    .allowExcessArguments()
    .action(async (_options, command: Command) => {
      const { reconcileRights } = await import('../commands/reconcile.ts')
      await reconcileRights(host, command.args, command.optsWithGlobals())
    })
  withPrinting(auth.command('whoami'))
    .allowExcessArguments()
    .summary('who one is to the server')
    .description('Prints the user, the groups and the rest of what the server knows of who asks.')
    .addOption(outcomeFormatOption())
    .action(async (_options, command: Command) => {
      const { whoAmI } = await import('../commands/auth.ts')
      await whoAmI(host, command.optsWithGlobals())
    })
  program
    .command('version')
    .allowExcessArguments()
    .summary('show which versions these are')
    .description('Shows the versions of this program and of the server.')
    .option('--client', "only this program's")
    .option('-o, --output <format>', 'json or yaml')
    .action(async (_options, command: Command) => {
      const { version } = await import('../commands/version.ts')
      await version(host, command.args, command.optsWithGlobals())
    })
}

function addClusterInfo(program: Command, host: Host): void {
  const info = program
    .command('cluster-info')
    .allowExcessArguments()
    .enablePositionalOptions()
    .summary('say where the cluster is')
    .description('Says where the control plane is, and the services that the cluster itself has.')
    .action(async (_options, command: Command) => {
      const { clusterInfo } = await import('../commands/cluster-info.ts')
      await clusterInfo(host, command.optsWithGlobals())
    })
  withPrinting(info.command('dump'))
    .allowExcessArguments()
    .summary('write down what there is, for whoever looks for a fault')
    .description('Writes nodes, workloads, events and logs of namespaces into files, or to standard output.')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('--namespaces <names>', 'of these; unless given, of kube-system and the current one', collectCommas, [])
    .option('--output-directory <directory>', 'where files are written; - is standard output')
    .addOption(keepEmpty(new Option('-o, --output <format>', objectFormatsText).default(undefined, 'json')))
    .addOption(podRunningTimeoutOption('20s'))
    .action(async (_options, command: Command) => {
      const { dumpClusterInfo } = await import('../commands/cluster-info-dump.ts')
      await dumpClusterInfo(host, command.optsWithGlobals())
    })
}

function addProxy(program: Command, host: Host): void {
  program
    .command('proxy')
    .allowExcessArguments()
    .summary("serve the cluster's API here, with your rights")
    .description(
      'Serves the API of the cluster on an address of this machine, with your credentials, until it is interrupted.',
    )
    .option('--address <address>', 'address to serve on', '127.0.0.1')
    .option('-p, --port <number>', 'port to serve on; 0 picks a free one', wholeNumber(), 8001)
    .option('-u, --unix-socket <path>', 'a socket to serve on instead')
    .option('--api-prefix <path>', 'what paths of the API begin with here', '/')
    .option('-w, --www <directory>', 'serve the files of this directory too')
    .option('-P, --www-prefix <path>', 'what their paths begin with', '/static/')
    .option(
      '--accept-hosts <patterns>',
      'hosts by which it may be reached',
      String.raw`^localhost$,^127\.0\.0\.1$,^\[::1\]$`,
    )
    .option('--accept-paths <patterns>', 'paths that may be asked for', '^.*')
    .option('--reject-paths <patterns>', 'paths that may not', '^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach')
    .option('--reject-methods <patterns>', 'methods that may not be used, as POST,PUT,PATCH', '^$')
    .option('--disable-filter', 'let every request through')
    .option('--append-server-path', "put the path of the server's address before each that is asked for")
    .option(
      '--keepalive <duration>',
      'how often to make sure that a connection to the server is still there; 0: never',
      durationText,
      '0s',
    )
    .action(async (_options, command: Command) => {
      const { proxy } = await import('../commands/proxy.ts')
      await proxy(host, command.optsWithGlobals())
    })
}
