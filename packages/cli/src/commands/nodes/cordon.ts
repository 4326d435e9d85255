import { type Node, nodes } from '@coracle/api'
import { CliError, UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { plainFieldManager } from '../../manifests/field-managers.ts'
import type { Outcome } from '../../output/outcome-printer.ts'
import { type LateFlags, throwLate } from '../../refused-value.ts'
import { nothingNamed } from '../../resources/select-objects.ts'
import type { Session } from '../../session.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import type { Target } from '../targets.ts'

/** Flags of commands that take nodes by name or label, and no files. */
export type NodeFlags = Omit<ChangeFlags, 'filename'> & LateFlags

/** `coracle cordon NODE` */
export function cordon(host: Host, names: readonly string[], flags: NodeFlags): Promise<void> {
  return setUnschedulable(host, names, 'cordon', flags)
}

/** `coracle uncordon NODE` */
export function uncordon(host: Host, names: readonly string[], flags: NodeFlags): Promise<void> {
  return setUnschedulable(host, names, 'uncordon', flags)
}

async function setUnschedulable(
  host: Host,
  names: readonly string[],
  verb: 'cordon' | 'uncordon',
  flags: NodeFlags,
): Promise<void> {
  const targets = { ...withoutEmptySelector(flags), filename: [], stopsAtMissing: true }
  await changeObjects(host, nodeArguments(names, verb, flags), verb, targets, (session, target) =>
    setOne(session, target, verb === 'cordon', flags.dryRun),
  )
}

/** The flags without a selector that says nothing: beside names it is none. */
export function withoutEmptySelector<T extends { readonly selector?: string }>(flags: T): T | Omit<T, 'selector'> {
  const { selector, ...others } = flags
  return selector === '' ? others : flags
}

/** The arguments of a command that takes names of nodes as arguments that name the type too. Throws a CliError where there are none. */
export function nodeArguments(
  names: readonly string[],
  verb: string,
  flags: LateFlags & { readonly selector?: string },
): readonly string[] {
  const { selector } = flags
  if (names.length === 0 && selector === undefined) {
    throw new UsageError(`USAGE: ${verb} NODE [flags]`)
  }
  if (names.length > 0 && selector !== undefined && selector !== '') {
    throw new UsageError('cannot specify both a node name and a --selector option')
  }
  throwLate(flags, 'dryRun')
  if (names.length === 0 && selector === '') throw new CliError(nothingNamed)
  if (!names.some((name) => name.includes('/'))) return ['nodes', ...names]
  return names.map((name) => (name.includes('/') ? name : `nodes/${name}`))
}

/** Keeps the scheduler from a node, or lets it come back. */
export async function setOne(
  { client }: Session,
  { key, object }: Target,
  isUnschedulable: boolean,
  dryRun: ChangeFlags['dryRun'],
): Promise<Outcome> {
  const word = isUnschedulable ? 'cordoned' : 'uncordoned'
  if (((object as Node).spec?.unschedulable ?? false) === isUnschedulable) return { verb: `already ${word}`, object }
  if (dryRun === 'client') return { verb: word, object }
  const body = { spec: { unschedulable: isUnschedulable ? true : null } }
  const options = { fieldManager: plainFieldManager, dryRun: dryRun === 'server' }
  return { verb: word, object: await client.patch(nodes, key, { type: 'strategic', body }, options) }
}
