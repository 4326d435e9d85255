import { type Command, Option } from 'commander'
import { argumentsBeforeDash } from '../arguments.ts'
import type { Host } from '../host.ts'
import {
  collectCommas,
  collectPairs,
  detachKeysOption,
  keepEmpty,
  podRunningTimeoutOption,
  switchOption,
  wholeNumber,
} from '../option-values.ts'
import { refusesArguments } from '../refusals.ts'
import { imageOption, ownFlags, withFiles } from './shared-options.ts'

/** Adds the commands that are connected to containers. */
export function addStreamVerbs(program: Command, host: Host): void {
  addExec(program, host)
  addAttach(program, host)
  addPortForward(program, host)
  addCopy(program, host)
  addDebug(program, host)
}

function addExec(program: Command, host: Host): void {
  withStreams(withFiles(program.command('exec'), 'run it in'))
    .argument('[target]', 'POD or TYPE/NAME; none with -f')
    .argument('[command...]', 'after --: the command, with its arguments')
    .summary('run a command in a container')
    .description('Runs a command in a container, and ends with its exit code.')
    .action(async (target: string | undefined, rest: readonly string[], _options, command: Command) => {
      const { exec } = await import('../commands/exec.ts')
      const args = target === undefined ? [] : [target, ...rest]
      await exec(host, { args, beforeDash: argumentsBeforeDash(command) }, ownFlags(command))
    })
}

function addAttach(program: Command, host: Host): void {
  withStreams(program.command('attach'))
    .addOption(detachKeysOption())
    .argument('[target]', 'POD, TYPE/NAME, or TYPE')
    .argument('[more...]', 'after TYPE: NAME')
    .summary('connect to what a container runs')
    .description('Shows what a container writes from now on, and with -i gives it what is typed.')
    .action(async (target: string | undefined, more: readonly string[], _options, command: Command) => {
      const { attach } = await import('../commands/attach.ts')
      await attach(host, target === undefined ? [] : [target, ...more], ownFlags(command))
    })
}

function withStreams(command: Command): Command {
  return command
    .option('-c, --container <name>', 'the container, where the pod has several')
    .option('-i, --stdin', 'hand on what is typed')
    .option('-t, --tty', 'with a terminal')
    .option('-q, --quiet', 'only what the container writes')
    .addOption(podRunningTimeoutOption('1m0s'))
}

function addPortForward(program: Command, host: Host): void {
  program
    .command('port-forward')
    .argument('[target]', 'POD or TYPE/NAME, such as service/web')
    .argument('[ports...]', 'PORT, LOCAL:REMOTE, or :REMOTE for a local port that is free')
    .summary('reach ports of a pod from here')
    .description('Listens on local ports, and connects whoever comes to ports of a pod.')
    .addOption(
      keepEmpty(new Option('--address <addresses>', 'addresses to listen on, or localhost').argParser(collectCommas)),
    )
    .addOption(podRunningTimeoutOption('1m0s'))
    .action(async (target: string | undefined, ports: readonly string[], _options, command: Command) => {
      const { portForward } = await import('../commands/port-forward.ts')
      await portForward(host, target === undefined ? [] : [target, ...ports], ownFlags(command))
    })
}

function addCopy(program: Command, host: Host): void {
  refusesArguments(program.command('cp'), () => 'source and destination are required')
    .argument('[source]', 'a path here, or [NAMESPACE/]POD:PATH')
    .argument('[destination]', 'the same; one of both is a path here')
    .summary('copy files to and from containers')
    .description('Copies files and folders to and from a container, which must have the program tar.')
    .option('-c, --container <name>', 'the container, where the pod has several')
    .option('--no-preserve', 'leave owners and permissions in the container as they come')
    .option(
      '--retries <count>',
      'how often to go on with a copy from a container that broke off; below zero: always',
      wholeNumber(),
      0,
    )
    .action(async (source: string | undefined, destination: string | undefined, _options, command: Command) => {
      const { copy } = await import('../commands/cp/cp.ts')
      await copy(host, [source, destination], ownFlags(command))
    })
}

function addDebug(program: Command, host: Host): void {
  withFiles(program.command('debug'), 'debug')
    .argument('[targets...]', 'POD, pod/NAME or node/NAME; then, after --, what the container runs')
    .summary('look into a pod or a node with a container of your own')
    .description(
      'Adds an ephemeral container to a pod that runs, makes a copy of the pod with a container more or another image or command, or starts a pod on a node.',
    )
    .addOption(imageOption('what the container runs'))
    .option('-c, --container <name>', 'its name, or with --copy-to that of one to change')
    .option('--target <container>', 'of a pod that runs: the container whose processes it is to see')
    .option('--copy-to <name>', 'make a copy of the pod, of this name')
    .option('--replace', 'with --copy-to: delete the pod itself')
    .option('--same-node', 'with --copy-to: the copy is on the same node')
    .addOption(
      switchOption('--share-processes [boolean]', 'with --copy-to: its containers see the processes of each other'),
    )
    .option(
      '--set-image <pairs>',
      'with --copy-to: other images, CONTAINER=IMAGE, *=IMAGE; repeatable',
      collectPairs,
      [],
    )
    .option('--keep-labels', 'with --copy-to: the labels too')
    .option('--keep-annotations', 'with --copy-to: the annotations too')
    .option('--keep-liveness', 'with --copy-to: the liveness probes too')
    .option('--keep-readiness', 'with --copy-to: the readiness probes too')
    .option('--keep-startup', 'with --copy-to: the startup probes too')
    .addOption(switchOption('--keep-init-containers [boolean]', 'with --copy-to: the init containers too', true))
    .option('--env <pairs>', 'KEY=VALUE; repeatable', collectPairs, [])
    .option('--image-pull-policy <policy>', 'when the image is pulled: Always, IfNotPresent or Never')
    .option('--arguments-only', 'what follows -- are arguments, and not the command')
    .option('--profile <name>', 'its rights: general, baseline, netadmin, restricted, sysadmin or legacy', 'general')
    .option('--custom <file>', 'a part of a container, in JSON or YAML, that goes over the profile')
    .addOption(switchOption('--attach [boolean]', 'be connected to it when it runs; with -i unless it is false'))
    .option('-i, --stdin', 'hand on what is typed')
    .option('-t, --tty', 'with a terminal')
    .option('-q, --quiet', 'only what the container writes')
    .action(async (args: readonly string[], _options, command: Command) => {
      const { debug } = await import('../commands/debug/debug.ts')
      const { targets, rest } = splitAtDashes(program, args)
      await debug(host, targets, rest, ownFlags(command))
    })
}

/** Arguments of a command, before and after `--`, which the parser leaves out. */
function splitAtDashes(program: Command, args: readonly string[]) {
  const given = (program as Command & { readonly rawArgs: readonly string[] }).rawArgs
  const at = given.indexOf('--')
  const count = at < 0 ? 0 : given.length - at - 1
  return { targets: args.slice(0, args.length - count), rest: args.slice(args.length - count) }
}
