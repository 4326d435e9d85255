import { type Command, Option } from 'commander'
import type { DoctorFlags } from '../commands/doctor.ts'
import type { DownFlags } from '../commands/down.ts'
import type { ServerLogFlags } from '../commands/server-logs.ts'
import type { StatusFlags } from '../commands/status.ts'
import type { Host } from '../host.ts'
import { collect, collectCommas, durationMs, durationOption, wholeNumber } from '../option-values.ts'
import { refuseFlagsOfNpm } from '../up/npm-flags.ts'
import type { UpFlags } from '../up/up-flags.ts'
import { ownFlags, stdinText, withRuntime } from './shared-options.ts'

/** More nodes than this are not asked for by anyone who knows what they do to memory. */
const nodesMax = 100_000

/** Adds the commands that run and examine a cluster of this machine. */
export function addClusterVerbs(program: Command, host: Host, args: readonly string[]): void {
  addUp(program, host, args)
  addStatus(program, host)
  addDown(program, host)
  addServerLogs(program, host)
  addUse(program, host)
  addKubeconfig(program, host)
  addSnapshot(program, host)
  addImport(program, host)
  addDoctor(program, host)
}

function addUp(program: Command, host: Host, args: readonly string[]): void {
  const command = withPlace(program.command('up'))
    .argument('[files...]', 'files or directories to apply, as with -f')
    .summary('start a cluster here')
    .description('Starts a cluster in this process and tells what happens in it, until Ctrl-C.')
    .option('-f, --filename <file>', `apply what this file or directory says (${stdinText}); repeatable`, collect, [])
    .option('-R, --recursive', 'take directories with all below them')
    .option('-d, --detach', 'return when the cluster is ready; it goes on by itself until coracle down')
    .addOption(new Option('-o, --output <format>', 'tell what happens as a JSON object a line').choices(['json']))
    .option('--memory', 'keep objects in memory only: they are gone afterwards')
    .addOption(
      new Option('--keep-pods', 'leave pods running when the server stops; its next start takes them up').conflicts(
        'memory',
      ),
    )
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
      "port to serve the API on; 0 picks a free one (default: 6443, or a free one where that is another Coracle's)",
      wholeNumber({ noun: 'port', min: 0, max: 65_535 }),
    )
    .option(
      '--token-auth-file <file>',
      "bearer tokens that are good beside the administrator's: a line of CSV each, as kube-apiserver has it",
    )
    .option(
      '--authentication-config <file>',
      'whose tokens of other issuers (OpenID Connect) are good: an AuthenticationConfiguration, as kube-apiserver has it',
    )
    .option('--oidc-issuer-url <url>', 'an issuer whose tokens are good, in place of --authentication-config')
    .option('--oidc-client-id <id>', 'for whom tokens of this issuer must be')
    .option('--oidc-username-claim <claim>', 'the claim of a token that names the user (default: sub)')
    .option(
      '--oidc-username-prefix <prefix>',
      'what stands before the name of such a user; - for nothing (default: the issuer and #, but for the claim email)',
    )
    .option('--oidc-groups-claim <claim>', 'the claim of a token that names the groups of the user')
    .option('--oidc-groups-prefix <prefix>', 'what stands before the name of such a group')
    .option('--oidc-required-claim <claim=value>', 'a claim that tokens must have; repeatable', collect)
    .option('--oidc-ca-file <file>', 'authorities (PEM) of the issuer (default: those of this host)')
    .option('--oidc-signing-algs <names>', 'by what tokens may be signed (default: RS256)', collectCommas)
    .option('--client-ca-file <file>', "authorities (PEM) whose client certificates are good beside the cluster's own")
    .option(
      '--enable-admission-plugins <names>',
      'built-in admission plugins to use that are off by default, as PodNodeSelector',
      collectCommas,
    )
    .option(
      '--disable-admission-plugins <names>',
      'built-in admission plugins to do without, as ServiceAccount; for tests',
      collectCommas,
    )
    .option('--authorization-mode <modes>', 'who may do what: Node,RBAC (default), or AlwaysAllow', collectCommas)
    .option(
      '--controllers <names>',
      "which controllers run, as kube-controller-manager has it: *,-NAME for all but one, '' for none (default: *)",
      collectCommas,
    )
    .option('--no-scheduler', 'place no pods: for a scheduler of your own, or tests')
    .option(
      '--max-requests-inflight <count>',
      'how many requests are answered at a time, together with --max-mutating-requests-inflight (default: 400)',
      wholeNumber({ min: 0 }),
    )
    .option(
      '--max-mutating-requests-inflight <count>',
      'what is added to --max-requests-inflight: priority levels share the sum (default: 200)',
      wholeNumber({ min: 0 }),
    )
    .option(
      '--nodes <count>',
      'how many nodes to have; 0: only a control plane (default: 1)',
      wholeNumber({ min: 0, max: nodesMax }),
    )
    .option(
      '--pod-manifest-path <path>',
      'a manifest of a pod, or a directory of such, that nodes run whatever the API says: static pods',
    )
    .option('--node-prefix <text>', 'what names of nodes begin with (node-, or the host name where objects are shared)')
  withRuntime(command)
    .option(
      '--service-cluster-ip-range <range>',
      'where services of a new cluster get addresses (default: loopback where containers are processes, else 10.96.0.0/12)',
    )
    .addOption(
      new Option(
        '--load-balancer-addresses <whose>',
        'which addresses services of type LoadBalancer get: those of nodes, or none (default: none)',
      ).choices(['nodes', 'none']),
    )
    .option('--images <file>', 'which programs of this host images stand for, on the process runtime (YAML)')
    .addOption(
      new Option(
        '--minimum-container-ttl-duration <duration>',
        'how long a container that has ended stays at least (default: 0s)',
      ).argParser(durationMs),
    )
    .option(
      '--maximum-dead-containers-per-container <count>',
      'how many runs that have ended are kept of each container beside its last; -1: all (default: 1)',
      wholeNumber({ min: -1 }),
    )
    .option(
      '--maximum-dead-containers <count>',
      'how many such runs are kept on a node in all; -1: any number (default: -1)',
      wholeNumber({ min: -1 }),
    )
    .option(
      '--missing-images <images>',
      'images that simulated nodes cannot pull, as web:broken,registry.example/*',
      collectCommas,
    )
    .option(
      '--runtime-config <versions>',
      'former versions to serve for clients that are older, as batch/v1beta1=true,policy/v1beta1=true',
      collectCommas,
    )
    .addOption(
      new Option(
        '--run-time <duration>',
        'time that simulated containers take that end, such as those of Jobs; or forever (default: as their commands tell, else 2s; what is imported goes on)',
      ).argParser((text) => (text === 'forever' ? Infinity : durationMs(text))),
    )
    .action(async (files: readonly string[], _options, command: Command) => {
      refuseFlagsOfNpm(
        host.variables,
        command.options.map(({ long }) => long).filter((long) => typeof long === 'string'),
      )
      const [{ up }, { flagValuesOf }, { valuesInForce }] = await Promise.all([
        import('../commands/up.ts'),
        import('../up/flag-values.ts'),
        import('../up/values-in-force.ts'),
      ])
      const flags = command.optsWithGlobals<UpFlags>()
      await up(host, args, { ...flags, filename: [...flags.filename, ...files] }, (chosen) =>
        flagValuesOf(command, valuesInForce(flags, chosen)),
      )
    })
}

function addStatus(program: Command, host: Host): void {
  withPlace(program.command('status'))
    .summary('say how the clusters of this directory are')
    .description(
      'Says of each cluster that was started here whether it runs, where, and what it takes. Exit code 1 where none runs.',
    )
    .addOption(new Option('-o, --output <format>', 'for programs').choices(['json', 'yaml']))
    .action(async (_options, command: Command) => {
      const { status } = await import('../commands/status.ts')
      await status(host, command.optsWithGlobals<StatusFlags>())
    })
}

function addDown(program: Command, host: Host): void {
  withPlace(program.command('down'))
    .summary('stop a cluster of this machine')
    .description(
      'Stops a cluster in order, its pods first, as Ctrl-C does, and returns when it has ended. What it has stored stays.',
    )
    .option('--all', 'all clusters of this directory')
    .addOption(durationOption('--timeout <duration>', 'how long to wait', '1m'))
    .action(async (_options, command: Command) => {
      const { down } = await import('../commands/down.ts')
      await down(host, command.optsWithGlobals<DownFlags>())
    })
}

function addServerLogs(program: Command, host: Host): void {
  withPlace(program.command('server-logs'))
    .summary('print what a detached server tells')
    .description('Prints what a server has told that was started with up --detach.')
    .option('-f, --follow', 'go on as it tells more, until it ends')
    .option('--tail <lines>', 'only the last lines', wholeNumber({ min: -1 }))
    .action(async (_options, command: Command) => {
      const { serverLogs } = await import('../commands/server-logs.ts')
      await serverLogs(host, command.optsWithGlobals<ServerLogFlags>())
    })
}

function addUse(program: Command, host: Host): void {
  program
    .command('use')
    .argument('<name>', 'name of a cluster; coracle is the one without')
    .summary('choose which cluster commands mean here')
    .description(
      'Makes a cluster the current context of .coracle/kubeconfig: commands in this directory and below mean it from now on.',
    )
    .action(async (name: string) => {
      const { use } = await import('../commands/use.ts')
      await use(host, name)
    })
}

function addKubeconfig(program: Command, host: Host): void {
  const kubeconfig = program
    .command('kubeconfig')
    .summary('print the kubeconfig of a cluster, or add it to another')
    .description('Prints the kubeconfig of a cluster of this machine, or adds it to another.')
  withPlace(kubeconfig.command('print'))
    .summary('print the kubeconfig of a cluster')
    .description('Prints the kubeconfig of a cluster, with the key of its administrator.')
    .action(async (_options, command: Command) => {
      const { printKubeconfig } = await import('../commands/kubeconfig.ts')
      await printKubeconfig(host, ownFlags(command))
    })
  withPlace(kubeconfig.command('merge'))
    .summary('add a cluster to another kubeconfig')
    .description('Adds the context of a cluster to another kubeconfig, or brings it up to date there. All else stays.')
    .option('--into <file>', 'the kubeconfig to add to (default: ~/.kube/config)')
    .option('--context-name <name>', 'name of the context there (default: the name of the cluster)')
    .option('--use', 'make it the current context')
    .action(async (_options, command: Command) => {
      const { mergeKubeconfig } = await import('../commands/kubeconfig.ts')
      await mergeKubeconfig(host, ownFlags(command))
    })
  withPlace(kubeconfig.command('remove'))
    .summary('take a cluster out of another kubeconfig')
    .description('Takes out of a kubeconfig what merge has added to it.')
    .option('--from <file>', 'the kubeconfig to take it out of (default: ~/.kube/config)')
    .action(async (_options, command: Command) => {
      const { removeKubeconfig } = await import('../commands/kubeconfig.ts')
      await removeKubeconfig(host, ownFlags(command))
    })
}

function addSnapshot(program: Command, host: Host): void {
  const snapshot = program
    .command('snapshot')
    .summary('save all objects of a cluster to a file, and restore them')
    .description('Saves all objects of a cluster to a file, and makes a cluster of them again.')
  withPlace(snapshot.command('save'))
    .argument('<file>', 'where to write them')
    .summary('save all objects of a cluster to a file')
    .description(
      'Saves all objects of a cluster, Secrets too: of one that runs by its API, of one of this machine that does not run from its data directory.',
    )
    .action(async (file: string, _options, command: Command) => {
      const { saveSnapshot } = await import('../commands/snapshot.ts')
      await saveSnapshot(host, file, ownFlags(command))
    })
  withPlace(snapshot.command('restore'))
    .argument('<file>', 'what snapshot save has written')
    .summary('make a cluster of the objects in a file')
    .description('Puts the objects of a snapshot into a data directory whose cluster does not run.')
    .option('--overwrite', 'have them take the place of the objects that are there')
    .action(async (file: string, _options, command: Command) => {
      const { restoreSnapshot } = await import('../commands/snapshot.ts')
      await restoreSnapshot(host, file, ownFlags(command))
    })
}

function addImport(program: Command, host: Host): void {
  withPlace(program.command('import'))
    .summary("copy a running cluster's objects into a simulated one")
    .description(
      'Reads all objects of a cluster that one has a kubeconfig of, and makes a cluster of this machine of them, in which nodes and pods are simulated.',
    )
    .option('--without-secrets', 'leave Secrets out')
    .option('--overwrite', 'have them take the place of the objects that are there')
    .action(async (_options, command: Command) => {
      const { importCluster } = await import('../commands/import.ts')
      await importCluster(host, ownFlags(command))
    })
}

/** Options that say which cluster of this machine is meant. */
export function withPlace(command: Command): Command {
  return command
    .option('--name <name>', 'name of the cluster, where there are several')
    .option(
      '--data-dir <directory>',
      'where everything is kept (default: .coracle, with a name .coracle/clusters/NAME)',
    )
}

function addDoctor(program: Command, host: Host): void {
  withPlace(program.command('doctor'))
    .summary('examine what a cluster has stored')
    .description(
      'Says how a cluster of this machine was left and what is in the way of its start, reads everything that it has stored, and says what is damaged.',
    )
    .option('--repair', 'go on without what is damaged: it is lost')
    .action(async (_options, command: Command) => {
      const { doctor } = await import('../commands/doctor.ts')
      await doctor(host, command.optsWithGlobals<DoctorFlags>())
    })
}
