import { checkFormat, type Node, nodes, type Taint } from '@coracle/api'
import { CliError, SummaryError, UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import type { Outcome } from '../../output/outcome-printer.ts'
import type { ResourceCatalog } from '../../resources/resource-catalog.ts'
import { withSession } from '../../session.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import { fieldValidation } from '../manifest-command.ts'

export interface TaintFlags extends ChangeFlags {
  readonly overwrite: boolean
  readonly validate: keyof typeof fieldValidation
}

/** Taints to set, and those to take away; without an effect: of every effect. */
interface TaintChanges {
  readonly set: readonly Taint[]
  readonly remove: readonly { readonly key: string; readonly effect: string }[]
}

/** `coracle taint nodes NAME KEY=VALUE:EFFECT KEY:EFFECT-` */
export async function taint(host: Host, args: readonly string[], flags: TaintFlags): Promise<void> {
  const { resources, changes } = splitArguments(args)
  const [type = '', ...names] = resources
  await withSession(host, flags, async (session) => requireNodes(type, await session.catalog()))
  if (flags.all === true && flags.selector !== undefined) {
    throw new CliError("setting 'all' parameter with a non empty selector is prohibited")
  }
  const isSelective = flags.all === true || flags.selector !== undefined
  if (!isSelective && names.length === 0) {
    throw new CliError("at least one resource name must be specified since 'all' parameter is not set")
  }
  // Whatever else is named, selectors mean nodes.
  const targets = isSelective ? ['nodes'] : ['nodes', ...names]
  const told = { ...flags, tellsDryRun: false, looksAtOutputLate: true, startsAnew: true }
  await changeObjects(host, targets, 'taint', told, async ({ client }, { key, object }) => {
    const present = (object as Node).spec?.taints ?? []
    const { taints, verb } = changeTaints(present, changes, key.name, flags.overwrite)
    if (flags.dryRun === 'client') return { verb, object: withTaints(object as Node, taints) }
    const body = { spec: { taints: taints.length === 0 ? null : taints }, metadata: version(object) }
    const options = {
      fieldManager: flags.fieldManager ?? fieldManagerOf('taint'),
      fieldValidation: fieldValidation[flags.validate],
      dryRun: flags.dryRun === 'server',
    }
    const outcome: Outcome = { verb, object: await client.patch(nodes, key, { type: 'merge', body }, options) }
    return outcome
  })
}

function withTaints(node: Node, taints: readonly Taint[]): Node {
  const { taints: _, ...spec } = node.spec ?? {}
  return { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } }
}

/** Resources come first, then what is to be done with taints. Throws a CliError on anything else. */
function splitArguments(args: readonly string[]) {
  const isChange = (arg: string): boolean => /[=:]/.test(arg) || arg.endsWith('-')
  const first = args.findIndex(isChange)
  const [resources, texts] = first < 0 ? [args, []] : [args.slice(0, first), args.slice(first)]
  const misplaced = texts.find((text) => !isChange(text))
  if (misplaced !== undefined) {
    throw new CliError(`all resources must be specified before taint changes: ${misplaced}`)
  }
  if (resources.length < 1) throw new CliError('one or more resources must be specified as <resource> <name>')
  return { resources, changes: parseChanges(texts) }
}

/** Throws, in kubectl's words, where a type is not that of nodes. */
function requireNodes(type: string, catalog: ResourceCatalog): void {
  const name = type.toLowerCase()
  const resource = catalog.has(name) ? catalog.find(name) : undefined
  if (resource === undefined) throw new SummaryError(`the server doesn't have a resource type ${JSON.stringify(name)}`)
  if (resource.kind !== 'Node') throw new CliError(`invalid resource type ${name}, only node types are supported`)
}

/** The list is replaced whole: only as long as nobody else has changed it. */
const version = ({ metadata: { resourceVersion } }: { readonly metadata: Node['metadata'] }) =>
  resourceVersion === undefined ? {} : { resourceVersion }

/** The taints of a node after some changes, and what was done. Throws a CliError where they do not fit what there is. */
export function changeTaints(
  present: readonly Taint[],
  { set, remove }: TaintChanges,
  node: string,
  overwrite: boolean,
): { readonly taints: readonly Taint[]; readonly verb: string } {
  const isSame = (a: Pick<Taint, 'key' | 'effect'>, b: Pick<Taint, 'key' | 'effect'>): boolean =>
    a.key === b.key && (a.effect === b.effect || a.effect === '' || b.effect === '')
  const taken = set.filter((taint) => present.some((each) => isSame(taint, each)))
  if (taken.length > 0 && !overwrite) {
    const keys = [...new Set(taken.map(({ key }) => key))].join(', ')
    throw new CliError(`node ${node} already has ${keys} taint(s) with same effect(s) and --overwrite is false`)
  }
  const missing = remove.filter((taint) => !present.some((each) => isSame(taint, each)))
  if (missing.length > 0) {
    throw new AggregateError(
      missing.map(
        ({ key, effect }) =>
          new CliError(`taint ${JSON.stringify(effect === '' ? key : `${key}:${effect}`)} not found`),
      ),
    )
  }
  const kept = present.filter((each) => ![...set, ...remove].some((change) => isSame(change, each)))
  const isMixed = overwrite || (set.length > 0 && remove.length > 0)
  const verb = isMixed ? 'modified' : set.length > 0 ? 'tainted' : 'untainted'
  return { taints: [...set, ...kept], verb }
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Reads `KEY=VALUE:EFFECT`, `KEY:EFFECT` and `KEY[:EFFECT]-`. Throws a CliError on anything else. */
export function parseChanges(texts: readonly string[]): TaintChanges {
  if (texts.length === 0) throw new CliError('at least one taint update is required')
  const set: Taint[] = []
  const remove: { key: string; effect: string }[] = []
  for (const text of texts) {
    const isRemoval = text.endsWith('-')
    const { key, value, effect } = parseTaint(isRemoval ? text.slice(0, -1) : text, isRemoval)
    if (isRemoval) remove.push({ key, effect })
    else if (set.some((each) => each.key === key && each.effect === effect)) {
      // As Go prints a taint.
      throw new CliError(`duplicated taints with the same key and effect: {${key} ${value} ${effect} <nil>}`)
    } else set.push({ key, effect, ...(value === '' ? {} : { value }) })
  }
  const contradicted = set.flatMap(({ key, effect }) =>
    remove.filter((each) => each.key === key && (each.effect === '' || each.effect === effect)),
  )
  if (contradicted.length > 0) {
    throw new CliError(
      `can not both modify and remove the following taint(s) in the same command: ${contradicted
        .map(({ key, effect }) => `${key}=${effect}`)
        .join(', ')}`,
    )
  }
  return { set, remove }
}

function parseTaint(text: string, isRemoval: boolean) {
  const refuse = (problems: readonly string[] = []) =>
    new CliError(`invalid taint spec: ${text}${problems.length === 0 ? '' : `, ${problems.join('; ')}`}`)
  const [left = '', effect, ...rest] = text.split(':')
  if (rest.length > 0) throw refuse()
  if (effect !== undefined && !effects.includes(effect)) {
    throw new UsageError(`invalid taint effect: ${effect}, unsupported taint effect`)
  }
  // What has no effect is a key as a whole.
  const [key = '', value = '', ...more] = effect === undefined ? [left] : left.split('=')
  if (more.length > 0) throw refuse()
  const problems = value === '' ? [] : checkFormat('label-value', value)
  const found = problems.length > 0 ? problems : checkFormat('qualified-name', key)
  if (found.length > 0) throw refuse(found)
  if (effect === undefined && !isRemoval) throw refuse()
  return { key, value, effect: effect ?? '' }
}
