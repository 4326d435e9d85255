import { checkFormat, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { filesNamed, hasFiles } from '../manifests/load-manifests.ts'
import { type Outcome, OutcomePrinter } from '../output/outcome-printer.ts'
import { getNamed } from '../resources/fetch.ts'
import { parseResourceArguments } from '../resources/resource-arguments.ts'
import type { Session } from '../session.ts'
import { changeCauseAnnotation, noteChangeCause } from './change-cause.ts'
import { type ChangeFlags, changeObjects, localAndServer } from './change-objects.ts'
import { refusalOfTargets } from './connection-refusals.ts'
import { splitPairs } from './key-value-pairs.ts'
import type { Target } from './targets.ts'

export interface SetMetadataFlags extends ChangeFlags {
  readonly overwrite: boolean
  /** Nothing is changed unless the object is of this version. */
  readonly resourceVersion?: string
  /** Prints them instead of changing any. */
  readonly list?: boolean
}

/** What `label` and `annotate` differ in. */
interface Field {
  readonly name: 'labels' | 'annotations'
  readonly noun: 'label' | 'annotation'
  readonly verb: 'label' | 'annotate'
  /** What was done, said afterwards. */
  readonly done: (change: { readonly sets: boolean; readonly removes: boolean }) => string
  /** Whether an argument sets a value, and takes none away. */
  readonly sets: (text: string) => boolean
  readonly parse: (text: string) => readonly [string, string]
  /** Refuses to take the place of values that are there. */
  readonly refuseTaken: (taken: readonly (readonly [string, string])[]) => CliError
}

const labels: Field = {
  name: 'labels',
  noun: 'label',
  verb: 'label',
  // As kubectl says it since 1.36: what has come of it counts, not what was asked for.
  done: ({ sets, removes }) => (sets ? (removes ? 'modified' : 'labeled') : removes ? 'unlabeled' : 'not labeled'),
  sets: (text) => text.includes('='),
  parse(text) {
    const [key = '', value = '', ...more] = text.split('=')
    if (more.length > 0) throw new CliError(`invalid label spec: ${text}`)
    const problems = [...checkFormat('label-value', value)]
    if (problems.length > 0) throw new CliError(`invalid label value: ${JSON.stringify(text)}: ${problems.join(';')}`)
    return [key, value]
  },
  refuseTaken: (taken) =>
    new CliError(
      taken.map(([key, value]) => `'${key}' already has a value (${value}), and --overwrite is false`).join('\n'),
    ),
}

const annotations: Field = {
  name: 'annotations',
  noun: 'annotation',
  verb: 'annotate',
  done: () => 'annotated',
  sets: (text) => text.indexOf('=') > 0,
  parse(text) {
    const at = text.indexOf('=')
    return [text.slice(0, at), text.slice(at + 1)]
  },
  refuseTaken: (taken) =>
    new CliError(
      `--overwrite is false but found the following declared annotation(s): ${taken
        .map(([key, value]) => `'${key}' already has a value (${value})`)
        .join('; ')}`,
    ),
}

/** `coracle label TYPE NAME KEY=VALUE KEY-` */
export function label(host: Host, args: readonly string[], flags: SetMetadataFlags): Promise<void> {
  return setMetadata(host, args, flags, labels)
}

/** `coracle annotate TYPE NAME KEY=VALUE KEY-` */
export function annotate(host: Host, args: readonly string[], flags: SetMetadataFlags): Promise<void> {
  return setMetadata(host, args, flags, annotations)
}

/** Values to set, and keys to take away. */
export interface Pairs {
  readonly set: ReadonlyMap<string, string>
  readonly remove: readonly string[]
}

async function setMetadata(host: Host, args: readonly string[], flags: SetMetadataFlags, field: Field): Promise<void> {
  // Of the two, kubectl's annotate looks at `-o` before anything else.
  if (field.verb === 'annotate') await OutcomePrinter.for(host, flags)
  const { resources, pairs } = splitArguments(args, field)
  checkFlags(resources, pairs, flags, field)
  let isSingle = false
  await changeObjects(
    host,
    resources,
    field.verb,
    { ...flags, looksAtOutputLate: true, startsAnew: field.verb === 'label', refusalOfConnection: refusalOfTargets },
    async (session, target) => {
      // What is only listed is not written.
      const shown = flags.list === true ? { ...flags, dryRun: 'client' as const } : flags
      const current = await asItIsNow(session, target, flags)
      const outcome = await setOne(host, session, current, pairs, shown, field)
      if (flags.list !== true) return outcome
      const { kind, group } = target.resource
      if (!isSingle) host.stdout.write(`Listing ${field.name} for ${kind}.${group}/${target.key.name}:\n`)
      for (const [key, value] of Object.entries(outcome.object.metadata[field.name] ?? {}).sort()) {
        host.stdout.write(`${isSingle ? '' : ' '}${key}=${value}\n`)
      }
      return undefined
    },
    async () => {
      isSingle = await meansOne(host, resources, flags)
      if (flags.resourceVersion !== undefined && !isSingle) {
        throw new CliError('--resource-version may only be used with a single resource')
      }
    },
  )
}

/** Whether one object is meant, whether it is there or not: that of one file, or one name. */
async function meansOne(host: Host, resources: readonly string[], flags: SetMetadataFlags): Promise<boolean> {
  if (hasFiles(flags)) {
    const files = await filesNamed(host, flags)
    return files.length === 1 && files[0] !== '-'
  }
  const parsed = parseResourceArguments(resources, 'label')
  return parsed.form === 'names' && parsed.names.length === 1
}

/** What has been changed meanwhile is read again. */
async function asItIsNow(session: Session, target: Target, { local }: SetMetadataFlags): Promise<Target> {
  if (target.isRepeated !== true || local === true) return target
  return { ...target, object: await getNamed(session.client, target.resource, target.key, undefined) }
}

/** Throws a CliError, in kubectl's words, on flags that contradict each other or the arguments. */
function checkFlags(
  resources: readonly string[],
  { set, remove }: Pairs,
  flags: SetMetadataFlags,
  { name, noun }: Field,
): void {
  const { all, selector, fieldSelector, list, output, local } = flags
  if (list === true && (output ?? '') !== '' && name === 'labels') {
    throw new CliError('--list and --output may not be specified together')
  }
  if (all === true && selector !== undefined) throw new CliError('cannot set --all and --selector at the same time')
  if (all === true && fieldSelector !== undefined) {
    throw new CliError('cannot set --all and --field-selector at the same time')
  }
  if (local === true) requireLocalFiles(resources, flags, noun)
  else if (resources.length === 0 && !hasFiles(flags)) {
    throw new CliError('one or more resources must be specified as <resource> <name> or <resource>/<name>')
  }
  if (set.size + remove.length === 0 && list !== true) throw new CliError(`at least one ${noun} update is required`)
}

/** Throws a CliError, in kubectl's words, where what is changed without a server is not in files. */
function requireLocalFiles(resources: readonly string[], flags: SetMetadataFlags, noun: Field['noun']): void {
  const example = noun === 'label' ? 'pod' : 'rsrc'
  const how = `-f ${example}.yaml or --filename=${example}.json`
  for (const refusal of localAndServer(flags)) throw refusal
  if (resources.length > 0) throw new CliError(`can only use local files by ${how} when --local=true is set`)
  if (!hasFiles(flags)) throw new CliError(`one or more files must be specified as ${how}`)
}

async function setOne(
  host: Host,
  session: Session,
  { resource, key, object }: Target,
  { set, remove }: Pairs,
  flags: SetMetadataFlags,
  field: Field,
): Promise<Outcome> {
  const { overwrite, resourceVersion, dryRun, fieldManager } = flags
  const present = object.metadata[field.name] ?? {}
  const taken = [...set].flatMap(([name, value]) => {
    const is = Object.hasOwn(present, name) ? present[name] : undefined
    return is === undefined || is === value ? [] : [[name, is] as const]
  })
  if (taken.length > 0 && !overwrite) throw field.refuseTaken(taken)
  if (field.name === 'labels') {
    for (const name of remove) {
      if (!Object.hasOwn(present, name)) host.stdout.write(`label ${JSON.stringify(name)} not found.\n`)
    }
  }
  const changes = changesTo(present, { set, remove })
  const values = Object.values(changes)
  const isChanged = values.length > 0
  const verb = field.done({ sets: values.some((value) => value !== null), removes: values.includes(null) })
  const precondition = resourceVersion === undefined ? {} : { resourceVersion }
  // Labels that stay as they are need no version to be checked, since kubectl 1.36.
  const isNothing = !isChanged && (resourceVersion === undefined || field.name === 'labels')
  if (dryRun === 'client' || isNothing) return { verb, object: withChanges(object, field.name, changes) }
  const patch = { type: 'merge' as const, body: { metadata: { ...precondition, [field.name]: changes } } }
  const manager = fieldManager ?? fieldManagerOf(field.verb)
  const changed = await session.client.patch(resource, key, patch, {
    fieldManager: manager,
    dryRun: dryRun === 'server',
  })
  // What is set or taken away by hand stays so.
  const isByHand =
    field.name === 'annotations' && (set.has(changeCauseAnnotation) || remove.includes(changeCauseAnnotation))
  if (dryRun === 'none' && !isByHand) await noteChangeCause(session, { resource, key }, flags, manager)
  return { verb, object: changed }
}

/** What differs: null takes a key away. */
function changesTo(present: Readonly<Record<string, string>>, { set, remove }: Pairs): Record<string, string | null> {
  return Object.fromEntries([
    ...[...set].filter(([name, value]) => !Object.hasOwn(present, name) || present[name] !== value),
    ...remove.filter((name) => Object.hasOwn(present, name)).map((name) => [name, null] as const),
  ])
}

function withChanges(
  object: KubernetesObject,
  name: Field['name'],
  changes: Readonly<Record<string, string | null>>,
): KubernetesObject {
  const merged = Object.entries({ ...object.metadata[name], ...changes }).filter(([, value]) => value !== null)
  return { ...object, metadata: { ...object.metadata, [name]: Object.fromEntries(merged) } }
}

/** Resources come first, then `KEY=VALUE` and `KEY-`. Throws a CliError on anything else. */
function splitArguments(
  args: readonly string[],
  field: Field,
): { readonly resources: readonly string[]; readonly pairs: Pairs } {
  const { resources, pairs } = splitPairs(args, field.noun)
  const set = new Map<string, string>()
  const remove: string[] = []
  for (const text of pairs) {
    if (field.sets(text)) set.set(...field.parse(text))
    else remove.push(text.slice(0, -1))
  }
  const contradicted = remove.filter((name) => set.has(name))
  if (contradicted.length > 0) {
    const what =
      field.noun === 'label'
        ? 'a label in the same command'
        : `the following annotation(s) in the same command: ${contradicted.join(', ')}`
    throw new CliError(`can not both modify and remove ${what}`)
  }
  return { resources, pairs: { set, remove } }
}
