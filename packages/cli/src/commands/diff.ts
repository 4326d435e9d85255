import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasReason, isJsonObject, type JsonObject, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError, ExitError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { applyObject } from '../manifests/apply-object.ts'
import { loadManifests, type ManifestFlags } from '../manifests/load-manifests.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { labelFilter, type Placed, placeManifest } from './manifest-command.ts'
import { keyOf } from './targets.ts'

export interface DiffFlags extends ConnectionFlags, ManifestFlags {
  readonly selector?: string
  readonly serverSide?: boolean
  readonly forceConflicts?: boolean
  readonly fieldManager: string
  readonly showManagedFields?: boolean
}

/** An object as it is, and as it would be; undefined: it is not there. */
interface Pair {
  readonly resource: DiscoveredResource
  readonly live: KubernetesObject | undefined
  readonly merged: KubernetesObject
}

/** As with kubectl: a difference has exit code 1, and a failure another. */
export const diffFailedExitCode = 2

/** `coracle diff -f FILE`: what `apply` would change. Rejects with an `ExitError` where that cannot be told. */
export async function diff(host: Host, flags: DiffFlags): Promise<void> {
  try {
    await showDifferences(host, flags)
  } catch (error) {
    throw error instanceof SilentError ? error : new ExitError(diffFailedExitCode, error)
  }
}

async function showDifferences(host: Host, flags: DiffFlags): Promise<void> {
  if (flags.filename.length === 0) throw new CliError('must specify one of -f and -k')
  const manifests = await loadManifests(host, flags)
  const directory = await mkdtemp(join(tmpdir(), 'coracle-diff-'))
  const [from, to] = [join(directory, 'LIVE'), join(directory, 'MERGED')]
  try {
    await Promise.all([mkdir(from), mkdir(to)])
    await withSession(host, flags, async (session) => {
      for (const manifest of manifests.filter(labelFilter(flags.selector))) {
        const pair = await pairOf(session, await placeManifest(session, manifest), flags)
        const name = fileName(pair)
        const { live, merged } = shown(pair, flags.showManagedFields === true)
        if (live !== undefined) await writeFile(join(from, name), await serialize(live, 'yaml'))
        await writeFile(join(to, name), await serialize(merged, 'yaml'))
      }
    })
    // As with kubectl, another program may show the differences.
    const [command = 'diff', ...args] = (host.variables.KUBECTL_EXTERNAL_DIFF ?? 'diff -u -N').split(' ')
    const { code, stdout, stderr } = await host.runProgram(command, [...args, from, to], true)
    host.stdout.write(stdout)
    if (code > 1) throw new CliError(`failed to run ${JSON.stringify(command)}: ${stderr.trim()}`)
    if (code === 1) throw new SilentError()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function pairOf({ client }: Session, { resource, object, source }: Placed, flags: DiffFlags): Promise<Pair> {
  const live = await client.get<KubernetesObject>(resource, keyOf(object)).catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
  if (flags.serverSide === true) {
    const { fieldManager, forceConflicts } = flags
    const merged = await client.apply(resource, object, { fieldManager, force: forceConflicts === true, dryRun: true })
    return { resource, live, merged }
  }
  const { object: merged } = await applyObject(client, resource, object, { dryRun: true, source })
  return { resource, live, merged }
}

/** `apps.v1.Deployment.default.web` */
function fileName({ resource: { group, version, kind }, merged: { metadata } }: Pair): string {
  const parts = [group, version, kind, metadata.namespace ?? '', metadata.name ?? '']
  return (group === '' ? parts.slice(1) : parts).join('.').replaceAll('/', '_')
}

function shown({ live, merged }: Pair, managedFields: boolean) {
  const plain = (object: KubernetesObject): JsonObject => {
    const json = object as unknown as JsonObject
    return managedFields ? json : withoutManagedFields(json)
  }
  const [before, after] = [live === undefined ? undefined : plain(live), plain(merged)]
  return merged.kind === 'Secret' ? masked(before, after) : { live: before, merged: after }
}

/** Secrets show that they differ, and not what they hold. */
function masked(live: JsonObject | undefined, merged: JsonObject) {
  const [before, after] = [dataOf(live), dataOf(merged)]
  const mask = (values: JsonObject, others: JsonObject, word: string): JsonObject =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        others[key] === undefined || others[key] === value ? '***' : `*** (${word})`,
      ]),
    )
  return {
    live: live === undefined ? undefined : { ...live, data: mask(before, after, 'before') },
    merged: { ...merged, data: mask(after, before, 'after') },
  }
}

const dataOf = (object: JsonObject | undefined): JsonObject => (isJsonObject(object?.data) ? object.data : {})
