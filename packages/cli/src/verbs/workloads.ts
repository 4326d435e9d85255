import type { Command } from 'commander'
import { SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { showHelp } from '../manual/help-arguments.ts'
import { collect, collectCommas, durationText, switchOption, wholeNumber } from '../option-values.ts'
import { refusesArguments, withExamples } from '../refusals.ts'
import { localFlags, withChanges, withLocalChanges } from './changing.ts'
import {
  dryRunOption,
  imageOption,
  labelSelectorOption,
  outcomeFormatOption,
  recordOption,
  withFiles,
  withOutcome,
  withPrinting,
} from './shared-options.ts'

/** Adds the commands that change what pods are, and follow how that goes. */
export function addWorkloadVerbs(program: Command, host: Host): void {
  addRollout(program, host)
  addSet(program, host)
  addRollingUpdate(program, host)
  addStop(program, host)
}

function addRollout(program: Command, host: Host): void {
  const rollout = program
    .command('rollout')
    .summary('follow, undo, hold and repeat rollouts')
    .description('Works with the rollouts of Deployments, DaemonSets and StatefulSets.')
    .allowExcessArguments(false)
    .action(async () => {
      await showHelp(rollout)
      throw new SilentError()
    })
  refusesArguments(rollout, (args) => withExamples(rollout, `unknown command "${args.join(' ')}"`))
  withRollouts(rollout.command('status'), 'watch')
    .summary('follow a rollout until it is done')
    .description('Tells how far a rollout is, until it is done.')
    .addOption(switchOption('-w, --watch [boolean]', 'go on until it is done', true))
    .option('--timeout <duration>', 'how long to wait (0s: as long as it takes)', durationText, '0s')
    .option('--revision <number>', 'the revision it must be; 0: any', wholeNumber(), 0)
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { rolloutStatus } = await import('../commands/rollout/status.ts')
      await rolloutStatus(host, resources, command.optsWithGlobals())
    })
  withPrinting(withRollouts(rollout.command('history'), 'show'))
    .summary('list the revisions that are kept')
    .description('Lists the revisions of templates that are kept, or shows one of them.')
    .option('--revision <number>', 'show this one in detail', wholeNumber(), 0)
    .addOption(outcomeFormatOption())
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { rolloutHistory } = await import('../commands/rollout/history.ts')
      await rolloutHistory(host, resources, command.optsWithGlobals())
    })
  withChanges(rollout.command('undo'), 'undo')
    .summary('go back to an earlier revision')
    .description('Puts the template of an earlier revision in the place of the present one.')
    .option('--to-revision <number>', 'the revision; 0: the one before', wholeNumber(), 0)
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { rolloutUndo } = await import('../commands/rollout/undo.ts')
      await rolloutUndo(host, resources, command.optsWithGlobals())
    })
  for (const [verb, summary, description, action] of [
    ['pause', 'hold a rollout', 'Holds rollouts: changes of the template have no effect meanwhile.', 'rolloutPause'],
    ['resume', 'go on with a rollout that is held', 'Goes on with rollouts that are held.', 'rolloutResume'],
    ['restart', 'replace all pods by new ones', 'Replaces all pods by new ones, as a rollout does.', 'rolloutRestart'],
  ] as const) {
    withChanges(rollout.command(verb), verb)
      .summary(summary)
      .description(description)
      .action(async (resources: readonly string[], _options, command: Command) => {
        const commands = await import('../commands/rollout/pause.ts')
        await commands[action](host, resources, command.optsWithGlobals())
      })
  }
}

function withRollouts(command: Command, verb: string): Command {
  return withFiles(command, verb)
    .argument('[resources...]', 'TYPE NAME or TYPE/NAME')
    .addOption(labelSelectorOption('of the objects with these labels'))
}

function addSet(program: Command, host: Host): void {
  const set = program
    .command('set')
    .summary('set images, variables and resources of containers')
    .description('Changes what pods are made of, in whatever describes pods.')
  withLocalChanges(set.command('image'), 'change')
    .addOption(recordOption())
    .summary('set images of containers')
    .description('Sets images: CONTAINER=IMAGE after the objects, or *=IMAGE for all containers.')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setImage } = await import('../commands/set/image.ts')
      await setImage(host, resources, localFlags(command))
    })
  withContainers(withLocalChanges(set.command('env'), 'change'))
    .summary('set environment variables of containers')
    .description('Sets variables (KEY=VALUE) and takes them away (KEY-), after the objects.')
    .option('-e, --env <pair>', 'a further KEY=VALUE; repeatable', collect, [])
    .option('--from <object>', 'take the keys of this ConfigMap or Secret, as configmap/NAME')
    .option('--prefix <text>', 'what the names of those begin with')
    .option('--keys <keys>', 'only these keys', collectCommas, [])
    .option('--list', 'print the variables')
    .option('--resolve', 'with --list: print what references to ConfigMaps, Secrets and fields lead to')
    .addOption(switchOption('--overwrite [boolean]', 'change those that have another value', true))
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setEnv } = await import('../commands/set/env.ts')
      await setEnv(host, resources, localFlags(command))
    })
  withContainers(withLocalChanges(set.command('resources'), 'change'))
    .addOption(recordOption())
    .summary('set requests and limits of containers')
    .description('Sets what containers request and may use at most; 0 takes an amount away.')
    .option('--limits <amounts>', 'as cpu=1,memory=1Gi')
    .option('--requests <amounts>', 'as cpu=100m,memory=256Mi')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setResources } = await import('../commands/set/resources.ts')
      await setResources(host, resources, localFlags(command))
    })
  withLocalChanges(set.command('serviceaccount').alias('sa'), 'change')
    .addOption(recordOption())
    .summary('set the service account of pods')
    .description('Sets the service account of pods: its name stands after the objects.')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setServiceAccount } = await import('../commands/set/service-account.ts')
      await setServiceAccount(host, resources, localFlags(command))
    })
  withLocalChanges(set.command('selector'), 'change')
    .addOption(recordOption())
    .summary('set the selector of Services')
    .description(
      'Sets the selector of Services: KEY=VALUE[,KEY=VALUE] after the objects, in place of the one they have.',
    )
    .option('--resource-version <version>', 'only where this is the version of the Service')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setSelector } = await import('../commands/set/selector.ts')
      await setSelector(host, resources, localFlags(command))
    })
  withLocalChanges(set.command('subject'), 'change')
    .summary('give a role to further users, groups and service accounts')
    .description('Adds users, groups and service accounts to RoleBindings and ClusterRoleBindings.')
    .option('--user <name>', 'a user; repeatable', collect, [])
    .option('--group <name>', 'a group; repeatable', collect, [])
    .option('--serviceaccount <name>', 'a service account, NAMESPACE:NAME; repeatable', collect, [])
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { setSubject } = await import('../commands/set/subject.ts')
      await setSubject(host, resources, localFlags(command))
    })
}

const withContainers = (command: Command): Command =>
  command.option('-c, --containers <pattern>', 'only containers of this name; * stands for any text', '*')

function addRollingUpdate(program: Command, host: Host): void {
  withOutcome(withFiles(program.command('rolling-update').alias('rollingupdate'), 'update to'))
    .argument('[old]', 'the ReplicationController to update')
    .argument('[new]', 'with --image: the name of the new one; it keeps its name unless given')
    .summary('replace the pods of a ReplicationController one by one')
    .description(
      'Replaces a ReplicationController by another, pod by pod. Broken off, the same command goes on where it was.',
    )
    .addOption(imageOption('the same controller with another image'))
    .option('--container <name>', 'with --image: which container, where there are several')
    .option('--image-pull-policy <policy>', 'with --image: when it is pulled')
    .option('--deployment-label-key <key>', 'with --image: the label that tells old and new pods apart', 'deployment')
    .option('--update-period <duration>', 'between one pod and the next', '1m0s')
    .option('--poll-interval <duration>', 'between one look and the next', '3s')
    .option('--timeout <duration>', 'how long a step may take', '5m0s')
    .option('--rollback', 'go back to the old one')
    .addOption(dryRunOption())
    .action(async (old: string | undefined, next: string | undefined, _options, command: Command) => {
      const { rollingUpdate } = await import('../commands/rolling-update/rolling-update.ts')
      const names = [old, next].filter((name) => name !== undefined)
      await rollingUpdate(host, names, command.optsWithGlobals())
    })
}

function addStop(program: Command, host: Host): void {
  withChanges(program.command('stop'), 'stop')
    .summary('stop pods gracefully, and delete what makes them')
    .description('Scales to none, waits until the pods are gone, and deletes.')
    .option('--grace-period <seconds>', 'time to end gracefully', wholeNumber())
    .option('--timeout <duration>', 'how long to wait (0s: as long as it takes)', durationText, '0s')
    .action(async (resources: readonly string[], _options, command: Command) => {
      const { stop } = await import('../commands/stop.ts')
      await stop(host, resources, command.optsWithGlobals())
    })
}
