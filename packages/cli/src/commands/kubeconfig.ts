import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KubeconfigEdit, KubeconfigPart } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import {
  type ClusterPlace,
  ownKubeconfig,
  type PlaceFlags,
  placeFlagText,
  placeToFind,
} from '../local/cluster-place.ts'
import { kubeconfigParts, readOwnKubeconfig } from '../local/common-kubeconfig.ts'
import { changeKubeconfigFile } from '../local/kubeconfig-file.ts'

export interface MergeFlags extends PlaceFlags {
  /** The file; kubectl's own by default. */
  readonly into?: string
  /** What to call the context there. */
  readonly contextName?: string
  /** Make it the current context. */
  readonly use?: boolean
}

export interface RemoveFlags extends PlaceFlags {
  readonly from?: string
}

/** `coracle kubeconfig print`: the kubeconfig of a cluster, keys included. */
export async function printKubeconfig(host: Host, flags: PlaceFlags): Promise<void> {
  const place = await placeWithKubeconfig(host, flags)
  const { name, home } = place
  if (home === undefined) return host.stdout.write(await readFile(ownKubeconfig(place), 'utf8'))
  const own = await readOwnKubeconfig(place)
  // The kubeconfig of a home may have those of others as well.
  for (const part of kubeconfigParts) {
    for (const each of own.names(part)) if (each !== name && each !== userOf(name)) own.remove(part, each)
  }
  own.currentContext = name
  host.stdout.write(own.toString())
}

/** `coracle kubeconfig merge`: adds the context of a cluster to another kubeconfig, and changes nothing else in it. */
export async function mergeKubeconfig(host: Host, flags: MergeFlags): Promise<void> {
  const place = await placeWithKubeconfig(host, flags)
  const own = await readOwnKubeconfig(place)
  const path = fileOf(host, flags.into)
  const name = flags.contextName ?? place.name
  let isNew = false
  await changeKubeconfigFile(path, (edit) => {
    const entries = entriesOf(own, place.name, name)
    const taken = entries.find(({ part, fields }) => !isOurs(edit.get(part, entryName(part, name)), fields, place))
    if (taken !== undefined) {
      throw new CliError(
        `${path} has a ${taken.part} "${entryName(taken.part, name)}" already, which is not that of ${place.directory}: ` +
          'give this one another name with --context-name',
      )
    }
    const former = markOf(edit.get('context', name))?.previousContext
    const previousContext = edit.currentContext === name ? former : edit.currentContext
    const mark = { directory: place.directory, ...(previousContext === undefined ? {} : { previousContext }) }
    for (const { part, fields } of entries) {
      isNew ||= edit.get(part, entryName(part, name)) === undefined
      edit.set(part, entryName(part, name), { ...fields, extensions: [{ name: markName, extension: mark }] })
    }
    if (flags.use === true || edit.currentContext === undefined) edit.currentContext = name
  })
  const from = flags.into === undefined ? '' : ` --from ${flags.into}`
  host.stdout.write(
    `context "${name}" ${isNew ? 'added to' : 'brought up to date in'} ${path} ` +
      `(\`coracle kubeconfig remove${placeFlagText(place)}${from}\` takes it out again)\n`,
  )
}

/** `coracle kubeconfig remove`: takes out what `merge` has added. */
export async function removeKubeconfig(host: Host, flags: RemoveFlags): Promise<void> {
  const place = placeToFind(host, flags)
  const path = fileOf(host, flags.from)
  const removed: string[] = []
  await changeKubeconfigFile(path, (edit) => {
    for (const part of kubeconfigParts) {
      for (const name of edit.names(part)) {
        const mark = markOf(edit.get(part, name))
        if (mark?.directory !== place.directory) continue
        edit.remove(part, name)
        if (part !== 'context') continue
        removed.push(name)
        if (edit.currentContext !== name) continue
        const { previousContext } = mark
        const isThere = previousContext !== undefined && edit.get('context', previousContext) !== undefined
        edit.currentContext = isThere ? previousContext : undefined
      }
    }
  })
  host.stdout.write(
    removed.length === 0
      ? `${path} has nothing of ${place.shown}\n`
      : `context ${removed.map((name) => `"${name}"`).join(', ')} removed from ${path}\n`,
  )
}

/** What says in an entry that it was merged, from where, and which context was the current one before. */
interface Mark {
  readonly directory: string
  readonly previousContext?: string
}

const markName = 'coracle.dev/cluster'

type Fields = Readonly<Record<string, unknown>>

function markOf(fields: Fields | undefined): Mark | undefined {
  const extensions: unknown = fields?.extensions
  if (!Array.isArray(extensions)) return undefined
  const mark = extensions.find((each: Fields | null) => each?.name === markName)?.extension as Partial<Mark> | undefined
  return typeof mark?.directory === 'string' ? { ...mark, directory: mark.directory } : undefined
}

/** Whether an entry may be written: there is none, it was merged from this cluster before, or says the same already. */
function isOurs(present: Fields | undefined, fields: Fields, { directory }: ClusterPlace): boolean {
  return (
    present === undefined ||
    markOf(present)?.directory === directory ||
    isDeepStrictEqual({ ...present }, { ...fields })
  )
}

interface Entry {
  readonly part: KubeconfigPart
  readonly fields: Fields
}

/** The entries of a cluster, as they are under another name. */
function entriesOf(own: KubeconfigEdit, name: string, as: string): readonly Entry[] {
  return [
    { part: 'cluster', fields: own.get('cluster', name) ?? {} },
    { part: 'user', fields: own.get('user', userOf(name)) ?? {} },
    { part: 'context', fields: { ...own.get('context', name), cluster: as, user: userOf(as) } },
  ]
}

const userOf = (name: string): string => `${name}-admin`
const entryName = (part: KubeconfigPart, name: string): string => (part === 'user' ? userOf(name) : name)

const fileOf = (host: Host, path: string | undefined): string =>
  path === undefined ? join(host.homeDirectory, '.kube', 'config') : resolve(host.workingDirectory, path)

/** The cluster that flags mean. Throws a CliError where it has no kubeconfig yet. */
async function placeWithKubeconfig(host: Host, flags: PlaceFlags): Promise<ClusterPlace> {
  const place = placeToFind(host, flags)
  try {
    await readFile(ownKubeconfig(place))
    return place
  } catch {
    throw new CliError(
      `${place.shown} has no kubeconfig: it is written when the cluster starts (\`coracle up${placeFlagText(place)}\`)`,
    )
  }
}
