import { type Command, Option } from 'commander'
import { UsageError } from '../cli-error.ts'
import type { Kustomization } from '../manifests/kustomization.ts'
import { booleanOf, collectCommas, durationMs, keepEmpty, switchOption, wholeNumber } from '../option-values.ts'
import type { DryRun } from '../output/outcome-printer.ts'
import { nameOf } from '../refusals.ts'
import { RefusedValue } from '../refused-value.ts'

/** Objects asked for in one request, as in kubectl. */
const chunkSizeDefault = 500

export const stdinText = '- reads standard input'
export const objectFormatsText =
  'json, yaml, kyaml, name, jsonpath=, jsonpath-as-json=, jsonpath-file=, go-template= or go-template-file='
export const windowsLineEndingsText = 'lines of the file end as on Windows'
export const templateText = 'the template, or the file, of -o go-template, go-template-file, jsonpath or jsonpath-file'

export const labelSelectorOption = (text = 'only objects with these labels, as in tier=front,env!=dev'): Option =>
  new Option('-l, --selector <selector>', text)

export const fieldSelectorOption = (text: string): Option => new Option('--field-selector <selector>', text)

export function withSelectors(command: Command): Command {
  return command
    .addOption(labelSelectorOption())
    .addOption(fieldSelectorOption('only objects with these fields, as in status.phase=Running'))
}

/** An image that has to be given: what is none is told by who makes something of it. */
export const imageOption = (text: string): Option => keepEmpty(new Option('--image <image>', text))

export function withFiles(command: Command, verb: string): Command {
  return command
    .option('-f, --filename <file>', `${verb} the objects of this file or directory; repeatable`, collectCommas, [])
    .option('-R, --recursive', 'take directories with all below them')
    .addOption(kustomizeOption(command))
}

/** kubectl's `-k`: kustomizations are built by kustomize. An empty one is none. */
export const kustomizeOption = (command: Command): Option =>
  new Option(
    '-k, --kustomize <directory>',
    'a kustomization, which is not built here: says how kustomize build hands it on',
  ).argParser((directory): Kustomization | undefined =>
    directory === '' ? undefined : { directory, command: nameOf(command) },
  )

/** What says which runtime runs the containers of this machine, and how. */
export function withRuntime(command: Command): Command {
  return command
    .addOption(
      new Option('--runtime <name>', 'what containers are (default: process)').choices([
        'process',
        'simulated',
        'cri',
        'docker',
      ]),
    )
    .option(
      '--container-runtime-endpoint <socket>',
      'where the container runtime listens (default: containerd.sock with --runtime cri, docker.sock with docker)',
    )
    .option(
      '--pod-infra-container-image <image>',
      'what holds the namespaces of pods, with --runtime docker (default: one that is made on the spot)',
    )
    .option('--pod-logs-dir <directory>', "where its containers' logs are (default: /var/log/pods)")
    .option(
      '--root-dir <directory>',
      'where volumes of pods are, and CSI drivers find the node, such as /var/lib/kubelet (default: in the data directory)',
    )
    .option(
      '--image-gc-high-threshold <percent>',
      'how full the disk of its images may get before those go that are not in use; 100: they stay (default: 85)',
      wholeNumber({ min: 0, max: 100 }),
    )
    .option(
      '--image-gc-low-threshold <percent>',
      'how full it is when enough of them have gone (default: 80)',
      wholeNumber({ min: 0, max: 100 }),
    )
    .option(
      '--minimum-image-ttl-duration <duration>',
      'images that came more lately than this stay (default: 2m)',
      durationMs,
    )
    .option(
      '--image-maximum-gc-age <duration>',
      'images that were not in use for longer than this go, however full the disk is; 0: none does (default: 0)',
      durationMs,
    )
    .addOption(
      keepEmpty(
        new Option(
          '--eviction-hard <thresholds>',
          'how little of its memory, disks and process IDs may be left before pods are evicted; empty: they never are (default: memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%)',
        ),
      ),
    )
    .option(
      '--eviction-soft <thresholds>',
      'how little may be left for a while before pods are evicted, with --eviction-soft-grace-period: memory.available<300Mi (default: none)',
    )
    .option(
      '--eviction-soft-grace-period <durations>',
      'for how long each soft threshold may be crossed: memory.available=1m30s',
    )
    .option(
      '--eviction-max-pod-grace-period <seconds>',
      'how long pods have to end at most that are evicted for a soft threshold (default: 0)',
      wholeNumber({ min: 0 }),
    )
    .option(
      '--eviction-minimum-reclaim <amounts>',
      'how much more than its threshold is to be left again before evicting ends: nodefs.available=500Mi (default: none)',
    )
    .option(
      '--eviction-pressure-transition-period <duration>',
      'how long the node is said to be under pressure after it no longer is (default: 5m)',
      durationMs,
    )
    .option(
      '--cluster-dns <addresses>',
      "servers that know the cluster's names (default: the address of its service kube-system/kube-dns)",
      collectCommas,
    )
    .option('--cluster-domain <domain>', "the domain of the cluster's names (default: cluster.local)")
    .option(
      '--resolv-conf <file>',
      'how the host looks up names: what pods get of it, and who is asked for names of others (default: /etc/resolv.conf)',
    )
}

export function withManifests(command: Command): Command {
  return withOutcome(command)
    .option('-f, --filename <file>', `file, directory or URL to read (${stdinText}); repeatable`, collectCommas, [])
    .option('-R, --recursive', 'take directories with all below them')
    .addOption(kustomizeOption(command))
    .addOption(validateOption())
    .addOption(labelSelectorOption())
    .addOption(dryRunOption())
}

/** Options of every command that says what it has done. */
export function withOutcome(command: Command): Command {
  return withPrinting(command.addOption(outcomeFormatOption())).addOption(
    fieldManagerOption('who writes, for the ownership of fields'),
  )
}

/** How to print what was done; with an empty format in words, a template beside it or not. */
export const outcomeFormatOption = (text = objectFormatsText): Option =>
  keepEmpty(new Option('-o, --output <format>', text))

/** With an empty name the server takes that of the program, and refuses where it merges. */
export const fieldManagerOption = (text: string): Option => keepEmpty(new Option('--field-manager <name>', text))

/** What else there is to say beside `-o` of how objects are printed. */
export function withPrinting(command: Command): Command {
  return command
    .option('--template <template>', templateText)
    .option('--show-managed-fields', 'keep managedFields in JSON and YAML')
    .addOption(missingKeysOption())
}

export const missingKeysOption = (): Option =>
  switchOption('--allow-missing-template-keys [boolean]', 'take a field that is nowhere for nothing', true)

/** Throws a CliError, in kubectl's words, where a command that takes no arguments is given some. */
export function refuseArguments(command: Command): void {
  const { args } = command
  if (args.length === 0) return
  throw new UsageError(`Unexpected args: [${args.join(' ')}]`)
}

/** All flags of a command; where commands above it have one of the same name, its own. */
export function ownFlags<T extends object>(command: Command): T {
  return { ...command.optsWithGlobals(), ...command.opts() } as T
}

const validationModes = ['strict', 'warn', 'ignore', 'true', 'false']

export const validateOption = (): Option =>
  new Option('--validate [mode]', 'what happens to unknown fields')
    .choices(validationModes)
    .argParser((mode: string): string | RefusedValue =>
      validationModes.includes(mode)
        ? mode
        : new RefusedValue(
            `invalid - validate option ${JSON.stringify(mode)}; must be one of: strict (or true), warn, ignore (or false)`,
          ),
    )
    .default('strict')
    .preset('strict')

/** `refusal` stands before what is wrong with a mode. */
export const dryRunOption = (refusal = ''): Option =>
  new Option('--dry-run [mode]', 'only check: here (client) or by the server, which stores nothing')
    .choices(['none', 'client', 'server'])
    .argParser((text) => dryRunMode(text, refusal))
    .default('none')
    .preset('client')

/** A mode, or a truth value as of old; `unchanged` is what the flag's missing value was called. */
function dryRunMode(text: string, refusal: string): DryRun | RefusedValue {
  if (text === 'none' || text === 'client' || text === 'server') return text
  const isDry = text === 'unchanged' ? true : booleanOf(text)
  if (isDry !== undefined) return isDry ? 'client' : 'none'
  return new RefusedValue(`${refusal}Invalid dry-run value (${text}). Must be "none", "server", or "client".`)
}

export const chunkSizeOption = (): Option =>
  new Option('--chunk-size <objects>', 'objects asked for in one request; 0: all of them')
    .argParser(wholeNumber())
    .default(chunkSizeDefault)

/** kubectl's `--record`, which notes the command line in what it changes: deprecated there, and still used. */
export const recordOption = (): Option =>
  switchOption('--record [boolean]', 'note this command in the object, for rollout history').hideHelp()
