import { type Command, Option } from 'commander'
import type { AgentFlags } from '../commands/agent.ts'
import type { TokenCreateFlags } from '../commands/token.ts'
import type { Host } from '../host.ts'
import { showHelp } from '../manual/help-arguments.ts'
import { collect, collectCommas, collectLabels, durationMs, wholeNumber } from '../option-values.ts'
import { withRuntime } from './shared-options.ts'

/** Adds the commands by which other machines become nodes of a cluster. */
export function addMachineVerbs(program: Command, host: Host): void {
  addAgent(program, host)
  addToken(program, host)
}

function addAgent(program: Command, host: Host): void {
  const command = program
    .command('agent')
    .argument('[server]', 'address of the cluster, as https://10.0.0.1:6443; not needed again once it was joined')
    .summary('make this machine a node of a cluster')
    .description(
      'Makes this machine a node of a cluster that runs elsewhere, and runs the pods that are bound to it, until Ctrl-C. It joins by --token and --discovery-token-ca-cert-hash, which `coracle token create --print-join-command` shows, or acts as a kubeconfig says (--kubeconfig). Its pods run on when it ends, and are taken up at its next start.',
    )
    .option('--discovery-token-ca-cert-hash <hash>', "sha256:… of the cluster's authority; repeatable", collect)
    .option('--discovery-token-unsafe-skip-ca-verification', 'join whoever answers, where there is no such hash')
    .option('--hostname-override <name>', 'name of the node (default: that of this machine)')
    .option('--node-ip <address>', 'address of the node (default: the one from which this machine reaches the server)')
    .option('--address <address>', "address to serve the node's own API on (default: that of the node)")
    .option(
      '--port <number>',
      'port to serve it on; 0 picks a free one',
      wholeNumber({ noun: 'port', min: 0, max: 65_535 }),
      10_250,
    )
    .option('--node-labels <labels>', 'labels of the node, as zone=a,disk=ssd', collectLabels)
    .option(
      '--pod-manifest-path <path>',
      'a manifest of a pod, or a directory of such, that the node runs whatever the API says: static pods',
    )
    .option('--register-with-taints <taints>', 'taints to register it with, as gpu=yes:NoSchedule', collectCommas)
    .option('--max-pods <count>', 'how many pods it takes', wholeNumber({ min: 1, max: 100_000 }), 110)
    .option('--data-dir <directory>', 'where everything is kept (default: .coracle/agent)')
  withRuntime(command)
    .option('--images <file>', 'which programs of this host images stand for, on the process runtime (YAML)')
    .option('--no-service-proxy', 'leave the addresses of services to another agent of this machine')
    .action(async (server: string | undefined, _options, command: Command) => {
      const { agent } = await import('../commands/agent.ts')
      await agent(host, server, command.optsWithGlobals<AgentFlags>())
    })
}

function addToken(program: Command, host: Host): void {
  const token = program
    .command('token')
    .summary('make, list and delete tokens with which machines join')
    .description('Makes, lists and deletes bootstrap tokens, with which other machines join the cluster.')
    .allowExcessArguments()
    .action(() => showHelp(token))
  token
    .command('create')
    .argument('[token]', 'abcdef.0123456789abcdef (default: one by chance)')
    .summary('make a token')
    .description('Makes a bootstrap token and prints it.')
    .option('--print-join-command', 'print the command by which a machine joins with it')
    .addOption(
      new Option('--ttl <duration>', 'how long it is good for; 0: it does not end')
        .argParser(durationMs)
        .default(86_400_000, '24h'),
    )
    .option('--description <text>', 'what it is for')
    .option('--usages <names>', 'what it may be used for: signing, authentication (default: both)', collectCommas)
    .option(
      '--groups <names>',
      'groups that who shows it is in (default: system:bootstrappers:kubeadm:default-node-token)',
      collectCommas,
    )
    .action(async (text: string | undefined, _options, command: Command) => {
      const { tokenCreate } = await import('../commands/token.ts')
      await tokenCreate(host, text, command.optsWithGlobals<TokenCreateFlags>())
    })
  token
    .command('list')
    .summary('list the tokens there are')
    .description('Lists the bootstrap tokens of the cluster.')
    .action(async (_options, command: Command) => {
      const { tokenList } = await import('../commands/token.ts')
      await tokenList(host, command.optsWithGlobals())
    })
  token
    .command('delete')
    .argument('<tokens...>', 'tokens, or their first parts')
    .summary('delete tokens')
    .description('Deletes bootstrap tokens: who has joined stays, nobody joins with them any more.')
    .action(async (tokens: readonly string[], _options, command: Command) => {
      const { tokenDelete } = await import('../commands/token.ts')
      await tokenDelete(host, tokens, command.optsWithGlobals())
    })
}
