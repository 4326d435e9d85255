import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError, ExitError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { applyObject } from '../manifests/apply-object.ts'
import { serverSideFieldManager } from '../manifests/field-managers.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import type { Manifest } from '../manifests/parse-manifests.ts'
import { serialize } from '../output/serialize.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { leftovers, prunedResources } from './apply/prune.ts'
import { type Compared, compared } from './compared-objects.ts'
import { diffFailedExitCode } from './diff-exit-codes.ts'
import { type Done, labelFilter, type Placed, placeManifest, visitManifests } from './manifest-command.ts'
import { keyOf } from './targets.ts'
import { warnIfDeleting } from './warn-if-deleting.ts'

export interface DiffFlags extends ConnectionFlags, ManifestFlags {
  readonly selector?: string
  readonly serverSide?: boolean
  readonly forceConflicts?: boolean
  readonly fieldManager?: string
  readonly showManagedFields?: boolean
  readonly showSecrets?: boolean
  /** How many objects are compared at the same time. */
  readonly concurrency: number
  /** Shows what was applied before and is in the files no more, too. */
  readonly prune?: boolean
  readonly pruneAllowlist: readonly string[]
}

interface Pair extends Compared {
  readonly resource: DiscoveredResource
}

/** `coracle diff -f FILE`: what `apply` would change. Rejects with an `ExitError` where that cannot be told. */
export async function diff(host: Host, flags: DiffFlags): Promise<void> {
  try {
    await showDifferences(host, flags)
  } catch (error) {
    throw error instanceof SilentError ? error : new ExitError(diffFailedExitCode, error)
  }
}

async function showDifferences(host: Host, flags: DiffFlags): Promise<void> {
  checkFlags(flags)
  const [from, to] = await Promise.all(['LIVE', 'MERGED'].map((name) => mkdtemp(join(tmpdir(), `${name}-`))))
  if (from === undefined || to === undefined) return
  try {
    await withSession(host, flags, async (session) => {
      const pruned = flags.prune === true ? await prunedResources(session, flags.pruneAllowlist) : undefined
      const read = await loadReadable(host, flags)
      const done: Done[] = []
      const isWanted = labelFilter(flags.selector)
      const pairs = inAdvance(read.manifests.filter(isWanted), Math.max(1, flags.concurrency), async (manifest) =>
        pairOf(session, await placeManifest(session, manifest), flags),
      )
      const show = async (_: Placed, manifest: Manifest) => {
        const pair = await pairs(manifest)
        done.push({ resource: pair.resource, object: pair.live ?? pair.merged })
        warnIfDeleting(host, pair.live ?? pair.merged)
        const { live, merged, isMasked } = compared(pair, flags)
        await writeObject(to, pair.resource, merged)
        if (live !== undefined) await writeObject(from, pair.resource, live)
        // kubectl masks what is not there, too, and shows that as null.
        else if (isMasked) await writeFile(join(from, fileName(pair.resource, merged)), 'null\n')
      }
      await visitManifests(session, read, show, isWanted)
      if (pruned === undefined) return
      for await (const { resource, object } of leftovers(session, pruned, done, flags.selector)) {
        // As with kubectl, what is gone is shown as it was, with its managed fields.
        await writeObject(
          from,
          resource,
          compared({ live: object, merged: object }, { ...flags, showManagedFields: true }).merged,
        )
      }
    })
    await runDiffProgram(host, from, to)
  } finally {
    await Promise.all([from, to].map((each) => rm(each, { recursive: true, force: true })))
  }
}

/** Has `diff` show the differences of two directories, or, as with kubectl, the program that KUBECTL_EXTERNAL_DIFF names. */
async function runDiffProgram(host: Host, from: string, to: string): Promise<void> {
  const [command, ...args] = diffCommand(host, from, to)
  // Its colours and its screen are for whoever looks at them.
  const isCaptured = !host.stdout.isTerminal
  const { code, stdout, stderr } = await host.runProgram(command, args, isCaptured).catch(() => {
    throw new CliError(`failed to run ${JSON.stringify(command)}: executable file not found in $PATH`)
  })
  host.stdout.write(stdout)
  host.stderr.write(stderr)
  if (code > 1) throw new CliError(`failed to run ${JSON.stringify(command)}: exit status ${code}`)
  if (code === 1) throw new SilentError()
}

/** Arguments of a program of the user's own: kubectl passes no others on, and those after the directories. */
const externalArgument = /^[a-zA-Z0-9=-]+$/

function diffCommand({ variables }: Host, from: string, to: string): readonly [string, ...string[]] {
  const { KUBECTL_EXTERNAL_DIFF: external = '' } = variables
  if (external === '') return ['diff', '-u', '-N', from, to]
  const [command = '', ...args] = external.split(' ')
  return [command, from, to, ...args.filter((each) => externalArgument.test(each))]
}

/** Gives what becomes of items that are asked for in their order, and has begun with so many of them by then. */
function inAdvance<T, R>(items: readonly T[], count: number, begin: (item: T) => Promise<R>): (item: T) => Promise<R> {
  const begun: Promise<R>[] = []
  return (item) => {
    const at = items.indexOf(item)
    for (const next of items.slice(begun.length, at + count)) {
      const result = begin(next)
      // Who asks for it is told.
      result.catch(() => {})
      begun.push(result)
    }
    return begun[at] ?? begin(item)
  }
}

/** Throws a CliError, in kubectl's words, on flags that contradict each other. */
function checkFlags(flags: DiffFlags): void {
  const { serverSide, forceConflicts } = flags
  if (!hasFiles(flags)) throw new CliError('must specify one of -f and -k')
  if (forceConflicts === true && serverSide !== true) {
    throw new CliError('--force-conflicts only works with --server-side')
  }
}

async function pairOf({ client }: Session, { resource, object, source }: Placed, flags: DiffFlags): Promise<Pair> {
  const live = await client.get<KubernetesObject>(resource, keyOf(object)).catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
  if (flags.serverSide === true) {
    const { fieldManager = serverSideFieldManager, forceConflicts } = flags
    const merged = await client.apply(resource, object, { fieldManager, force: forceConflicts === true, dryRun: true })
    return { resource, live, merged }
  }
  const { object: merged } = await applyObject(client, resource, object, { dryRun: true, source, annotate: false })
  return { resource, live, merged }
}

/** Writes an object into a file of its name: `apps.v1.Deployment.default.web`. */
async function writeObject(directory: string, resource: DiscoveredResource, object: KubernetesObject): Promise<void> {
  await writeFile(join(directory, fileName(resource, object)), await serialize(object, 'yaml'))
}

function fileName({ group, version, kind }: DiscoveredResource, { metadata }: KubernetesObject): string {
  const { namespace = '', name = '' } = metadata
  const parts = [...(group === '' ? [] : [group]), version, kind, namespace, name]
  return parts.join('.').replaceAll('/', '_')
}
