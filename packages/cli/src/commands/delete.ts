import { hasReason, type KubernetesObject, type Status } from '@coracle/api'
import type { DeleteOptions, DiscoveredResource, ObjectKey } from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { loadManifests, type ManifestFlags } from '../manifests/load-manifests.ts'
import { listAll } from '../resources/fetch.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { listOptions, type SelectorFlags, selectObjects } from '../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { type Doomed, waitUntilGone } from './await-deletion.ts'
import { dryRunText, placeManifest } from './manifest-command.ts'

export interface DeleteFlags extends ConnectionFlags, SelectorFlags, ManifestFlags {
  readonly all?: boolean
  readonly cascade: 'background' | 'foreground' | 'orphan'
  readonly gracePeriod?: number
  readonly force?: boolean
  readonly wait: boolean
  readonly timeout: string
  readonly ignoreNotFound?: boolean
  readonly dryRun: 'none' | 'client' | 'server'
  readonly output?: 'name'
}

interface Target {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
}

/** `coracle delete TYPE NAME`, `-f FILE`, `-l SELECTOR`, `--all` */
export async function deleteObjects(host: Host, args: readonly string[], flags: DeleteFlags): Promise<void> {
  if (args.length > 0 && flags.filename.length > 0) throw new CliError('name either files or objects, not both')
  const timeoutMs = parseDuration(flags.timeout)
  const manifests = await loadManifests(host, flags)
  await withSession(host, flags, async (session) => {
    const targets =
      flags.filename.length > 0
        ? (await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))).map(targetOf)
        : await targetsOf(session, args, flags)
    if (targets.length === 0) host.stdout.write('No resources found\n')
    if (isImmediate(flags)) host.stderr.write(immediateWarning)
    const { doomed, errors } = await deleteAll(host, session, targets, flags)
    if (flags.wait && flags.dryRun === 'none') await waitUntilGone(host, session, doomed, timeoutMs)
    if (errors.length > 0) throw new AggregateError(errors)
  })
}

function targetOf({ resource, object }: { resource: DiscoveredResource; object: KubernetesObject }): Target {
  const { name = '', namespace } = object.metadata
  return { resource, key: { name, ...(namespace === undefined ? {} : { namespace }) } }
}

async function targetsOf(session: Session, args: readonly string[], flags: DeleteFlags): Promise<readonly Target[]> {
  const selections = selectObjects(args, 'delete', await session.catalog(), flags)
  const isSelective = flags.selector !== undefined || flags.fieldSelector !== undefined
  const targets: Target[] = []
  for (const { resource, name } of selections) {
    if (name !== undefined) {
      targets.push({ resource, key: { name, ...(resource.namespaced ? { namespace: session.namespace } : {}) } })
      continue
    }
    if (!isSelective && flags.all !== true) {
      throw new CliError('resource(s) were provided, but no name was specified: give names, -l SELECTOR or --all')
    }
    const objects = await listAll(session.client, resource, listOptions(session, { resource }, flags))
    targets.push(...objects.map((object) => targetOf({ resource, object })))
  }
  return targets
}

async function deleteAll(host: Host, { client }: Session, targets: readonly Target[], flags: DeleteFlags) {
  const doomed: Doomed[] = []
  const errors: unknown[] = []
  for (const target of targets) {
    try {
      if (flags.dryRun !== 'client') {
        const result = await client.delete(target.resource, target.key, deleteOptions(flags))
        doomed.push({ ...target, uid: uidOf(result) })
      }
      host.stdout.write(deletedLine(target, flags))
    } catch (error) {
      if (!(flags.ignoreNotFound === true && hasReason(error, 'NotFound'))) errors.push(error)
    }
  }
  return { doomed, errors }
}

const policies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

function deleteOptions(flags: DeleteFlags): DeleteOptions {
  const gracePeriodSeconds = gracePeriodOf(flags)
  return {
    propagationPolicy: policies[flags.cascade],
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(flags.dryRun === 'server' ? { dryRun: true } : {}),
  }
}

/** kubectl's rule: 0 takes an object away while it may still run, and so counts only when it is asked for twice. */
function gracePeriodOf({ gracePeriod, force }: DeleteFlags): number | undefined {
  const asked = gracePeriod === undefined || gracePeriod < 0 ? undefined : gracePeriod
  if (force === true) return asked ?? 0
  return asked === 0 ? 1 : asked
}

const isImmediate = (flags: DeleteFlags): boolean => gracePeriodOf(flags) === 0

const immediateWarning =
  'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n'

function deletedLine({ resource, key }: Target, flags: DeleteFlags): string {
  if (flags.output === 'name') return `${objectText(resource, key.name)}\n`
  const verb = isImmediate(flags) ? 'force deleted' : 'deleted'
  const place = key.namespace === undefined ? '' : ` from ${key.namespace} namespace`
  return `${kindText(resource)} "${key.name}" ${verb}${place}${dryRunText[flags.dryRun]}\n`
}

function uidOf(result: KubernetesObject | Status): string | undefined {
  return result.kind === 'Status' ? (result as Status).details?.uid : (result as KubernetesObject).metadata.uid
}
