import type { DeleteOptions, DiscoveredResource } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import { reasonOf } from '../../describe-error.ts'
import type { Host } from '../../host.ts'
import { type Applied, applyObject, lastAppliedAnnotation, withLastApplied } from '../../manifests/apply-object.ts'
import { applyFieldManager, serverSideFieldManager } from '../../manifests/field-managers.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { applyOnServer } from '../../manifests/server-side-apply.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { pause } from '../../pause.ts'
import { throwLate } from '../../refused-value.ts'
import type { Session } from '../../session.ts'
import { propagationPolicy } from '../cascade.ts'
import { type RecordFlags, withChangeCause } from '../change-cause.ts'
import {
  fieldValidation,
  forEachManifest,
  type ManifestCommandFlags,
  type Placed,
  type Preparation,
} from '../manifest-command.ts'
import { type RecreateFlags, recreate } from '../recreate.ts'
import { warnIfDeleting } from '../warn-if-deleting.ts'
import type { ApplySet } from './apply-set.ts'
import { prune, prunedResources } from './prune.ts'

export interface ApplyFlags extends ManifestCommandFlags, RecreateFlags, RecordFlags {
  /** Deletes and creates anew what cannot be changed into what the files say. */
  readonly force?: boolean
  /** Deletes what was applied before and is in the files no more. */
  readonly prune?: boolean
  readonly pruneAllowlist: readonly string[]
  /** The parent of the set that is applied, and of which members are pruned: `NAME` or `RESOURCE[.GROUP]/NAME`. */
  readonly applyset?: string
  /** What is pruned needs no selector. */
  readonly all?: boolean
  /** Whether fields are set that others have changed since they were last applied. */
  readonly overwrite: boolean
  readonly subresource?: string
  readonly serverSide?: boolean
  readonly forceConflicts?: boolean
}

/** `coracle apply -f FILE` */
export async function apply(host: Host, flags: ApplyFlags): Promise<void> {
  throwLate(flags, 'dryRun')
  await forEachManifest(
    host,
    flags,
    { asList: true, needsObjects: 'apply', unreadFirst: true, prepare: (session) => prepared(host, session, flags) },
    async (session, placed) => {
      const { client } = session
      const { resource, source } = placed
      const object = withChangeCause(placed.object, flags)
      const { name = '', generateName } = object.metadata
      if (name === '' && generateName !== undefined) {
        throw new CliError(`from ${generateName}: cannot use generate name with apply`)
      }
      if (flags.serverSide === true) {
        const options = {
          fieldManager: flags.fieldManager ?? serverSideFieldManager,
          force: flags.forceConflicts === true,
          fieldValidation: fieldValidation[flags.validate],
          dryRun: flags.dryRun === 'server',
          ...(flags.subresource === undefined ? {} : { subresource: flags.subresource }),
        }
        const merged = await applyOnServer(client, resource, object, options, (text) => host.stderr.write(text))
        warnIfDeleting(host, merged)
        return { verb: 'serverside-applied', object: merged }
      }
      const applied = await applyObject(client, resource, object, {
        fieldValidation: fieldValidation[flags.validate],
        dryRun: flags.dryRun === 'server',
        local: flags.dryRun === 'client',
        overwrite: flags.overwrite,
        source,
        pause: (ms) => pause(host, ms),
        onMissing: () => {
          host.stderr.write(
            `Warning: resource ${`${resource.plural}/${name}`} is missing the ${lastAppliedAnnotation} annotation which is required by coracle apply. coracle apply should only be used on resources created declaratively by either coracle create --save-config or coracle apply. The missing annotation will be patched automatically.\n`,
          )
        },
        ...(flags.fieldManager === undefined ? {} : { fieldManager: flags.fieldManager }),
      }).catch(async (error: unknown): Promise<Applied> => {
        const isRefused = reasonOf(error) === 'Conflict' || reasonOf(error) === 'Invalid'
        if (flags.force !== true || flags.dryRun !== 'none' || !isRefused) throw error
        const anew = { ...placed, object: withLastApplied(object) }
        const created = await recreate(session, anew, host, {
          ...flags,
          fieldManager: flags.fieldManager ?? applyFieldManager,
        })
        return { outcome: 'configured', object: created, lacksLastApplied: false }
      })
      warnIfDeleting(host, applied.object)
      return { verb: applied.outcome, object: applied.object }
    },
  )
}

/** What is pruned, and how. Rejects with a CliError, in kubectl's words and its order, on flags that contradict each other. */
async function prepared(host: Host, session: Session, flags: ApplyFlags): Promise<Preparation> {
  propagationPolicy(flags.cascade)
  if (!hasFiles(flags)) throw new CliError('must specify one of -f and -k')
  throwLate(flags, 'validate')
  const { prune, pruneAllowlist } = flags
  const applySet = flags.applyset === undefined ? undefined : await applySetOf(host, session, flags.applyset, flags)
  // Types that are named are looked for before anything else.
  const isNamed = prune === true && pruneAllowlist.length > 0
  const resources = isNamed ? await prunedResources(session, pruneAllowlist) : undefined
  await checkFlags(flags, applySet)
  if (applySet !== undefined) return withApplySet(host, applySet, flags)
  return prune === true ? { afterwards: pruner(host, session, resources, flags) } : {}
}

async function applySetOf(host: Host, session: Session, reference: string, flags: ApplyFlags): Promise<ApplySet> {
  const { stderr, environment } = host
  const { ApplySet } = await environment.clock.hold(import('./apply-set.ts'))
  return ApplySet.of(session, reference, {
    local: flags.dryRun === 'client',
    dryRun: flags.dryRun === 'server',
    fieldValidation: fieldValidation[flags.validate],
    warn: (text) => stderr.write(text),
  })
}

async function checkFlags(flags: ApplyFlags, applySet: ApplySet | undefined): Promise<void> {
  const { serverSide, forceConflicts, dryRun, force, prune, selector, all } = flags
  const isSelected = (selector ?? '') !== ''
  if (forceConflicts === true && serverSide !== true) {
    throw new CliError('--force-conflicts only works with --server-side')
  }
  if (serverSide === true && dryRun === 'client') {
    throw new CliError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
  }
  if (serverSide === true && force === true) throw new CliError('--force cannot be used with --server-side')
  if (dryRun === 'server' && force === true) throw new CliError('--dry-run=server cannot be used with --force')
  if (all === true && isSelected) throw new CliError('cannot set --all and --selector at the same time')
  if (applySet !== undefined) {
    if (prune !== true) throw new CliError('--applyset requires --prune')
    await applySet.validate()
  }
  if (prune === true && force === true) throw new CliError('--force cannot be used with --prune')
  if (applySet !== undefined) requireNothingBesideSet(flags)
  else if (prune === true) {
    if (!isSelected && all !== true) {
      throw new CliError(
        'all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector',
      )
    }
    if (serverSide === true) {
      throw new CliError("--prune is in alpha and doesn't currently work on objects created by server-side apply")
    }
  }
  if (flags.subresource !== undefined && serverSide !== true) {
    throw new CliError('--subresource can only be specified for --server-side')
  }
}

/** Throws a CliError where something else than a set says what is pruned. */
function requireNothingBesideSet({ all, selector, pruneAllowlist }: ApplyFlags): void {
  if (all === true) throw new CliError('--all is incompatible with --applyset')
  if ((selector ?? '') !== '') throw new CliError('--selector is incompatible with --applyset')
  if (pruneAllowlist.length > 0) throw new CliError('--prune-allowlist is incompatible with --applyset')
}

/** Has objects be members of a set, and takes away members that are in the files no more. */
function withApplySet(host: Host, applySet: ApplySet, flags: ApplyFlags): Preparation {
  return {
    async before(placed) {
      let refusal: unknown
      let members: readonly Placed[] = []
      try {
        members = applySet.withMembers(placed)
      } catch (error) {
        refusal = error
      }
      // As with kubectl the parent is written in any case.
      await applySet.begin(members)
      if (refusal !== undefined) throw refusal
      return members
    },
    async afterwards(done) {
      const printer = await OutcomePrinter.for(host, flags)
      await applySet.prune({ done, printer, deleteOptions: deleteOptionsOf(flags) })
    },
  }
}

/** What takes away, once all is applied, what is in the files no more. */
function pruner(
  host: Host,
  session: Session,
  named: readonly DiscoveredResource[] | undefined,
  flags: ApplyFlags,
): NonNullable<Preparation['afterwards']> {
  return async (done) => {
    const printer = await OutcomePrinter.for(host, flags)
    const resources = named ?? (await prunedResources(session, []))
    const local = flags.dryRun === 'client'
    await prune(session, resources, done, printer, {
      selector: flags.selector,
      local,
      deleteOptions: deleteOptionsOf(flags),
    })
  }
}

const deleteOptionsOf = ({ cascade, gracePeriod, dryRun }: ApplyFlags): DeleteOptions => ({
  propagationPolicy: propagationPolicy(cascade),
  ...(gracePeriod >= 0 ? { gracePeriodSeconds: gracePeriod } : {}),
  ...(dryRun === 'server' ? { dryRun: true } : {}),
})
