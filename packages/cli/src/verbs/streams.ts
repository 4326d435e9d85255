import type { Command } from 'commander'
import type { Host } from '../host.ts'
import { collectCommas, podRunningTimeoutOption, wholeNumber } from '../option-values.ts'
import { ownFlags, withFiles } from './shared-options.ts'

/** Adds the commands that are connected to containers. */
export function addStreamVerbs(program: Command, host: Host): void {
  addExec(program, host)
  addAttach(program, host)
  addPortForward(program, host)
  addCopy(program, host)
}

function addExec(program: Command, host: Host): void {
  withStreams(withFiles(program.command('exec'), 'run it in'))
    .argument('[target]', 'POD or TYPE/NAME; none with -f')
    .argument('[command...]', 'after --: the command, with its arguments')
    .summary('run a command in a container')
    .description('Runs a command in a container, and ends with its exit code.')
    .action(async (target: string | undefined, rest: readonly string[], _options, command: Command) => {
      const { exec } = await import('../commands/exec.ts')
      await exec(host, target === undefined ? [] : [target, ...rest], ownFlags(command))
    })
}

function addAttach(program: Command, host: Host): void {
  withStreams(program.command('attach'))
    .argument('[target]', 'POD or TYPE/NAME')
    .argument('[more...]', 'nothing more')
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
    .option('--address <addresses>', 'addresses to listen on, or localhost', collectCommas, [])
    .addOption(podRunningTimeoutOption('1m0s'))
    .action(async (target: string | undefined, ports: readonly string[], _options, command: Command) => {
      const { portForward } = await import('../commands/port-forward.ts')
      await portForward(host, target === undefined ? [] : [target, ...ports], ownFlags(command))
    })
}

function addCopy(program: Command, host: Host): void {
  program
    .command('cp')
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
