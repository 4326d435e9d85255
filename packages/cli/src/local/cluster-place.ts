import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'

/** Directory in which `coracle up` keeps everything unless told otherwise. */
export const homeName = '.coracle'
/** Named clusters are in directories below this one of the home. */
const clustersName = 'clusters'
/** The cluster that nobody has named; its directory is the home itself. */
export const defaultClusterName = 'coracle'

/** Where the named clusters of a home are. */
export const clustersDirectory = (home: string): string => join(home, clustersName)

/** Where a cluster of this machine is. */
export interface ClusterPlace {
  /** Also the name of its context. */
  readonly name: string
  /** Its data directory, absolute. */
  readonly directory: string
  /** The same as people would write it here. */
  readonly shown: string
  /** The home that it belongs to, where the kubeconfig is that has all of them; undefined for a directory on its own. */
  readonly home: string | undefined
}

/** Flags that say which cluster is meant. */
export interface PlaceFlags {
  readonly name?: string
  readonly dataDir?: string
}

/** Where `up` makes a cluster: in the home of this very directory, unless told otherwise. Throws a CliError for what cannot be. */
export const placeToStart = (host: Here, flags: PlaceFlags): ClusterPlace =>
  placeIn(host, resolve(host.workingDirectory, homeName), flags)

/** The cluster that flags mean: one of the home here, or of the nearest above. Throws a CliError for what cannot be. */
export const placeToFind = (host: Here, flags: PlaceFlags): ClusterPlace =>
  placeIn(host, findHome(host.workingDirectory) ?? resolve(host.workingDirectory, homeName), flags)

/** All clusters that have ever been started in the home here, or in the nearest above: the one without a name first. */
export function placesHere(host: Here): readonly ClusterPlace[] {
  const home = findHome(host.workingDirectory)
  if (home === undefined) return []
  const names = namesIn(clustersDirectory(home))
  return [defaultClusterName, ...names].map((name) => placeIn(host, home, { name })).filter(wasUsed)
}

/** Whether a cluster was ever started there. */
export const wasUsed = ({ directory }: Pick<ClusterPlace, 'directory'>): boolean =>
  existsSync(join(directory, 'coracle.lock'))

/** The home in this directory or the nearest above it: one with a kubeconfig, or with clusters. */
export function findHome(directory: string): string | undefined {
  const home = join(directory, homeName)
  if (existsSync(join(home, 'kubeconfig')) || wasUsed({ directory: home })) return home
  return dirname(directory) === directory ? undefined : findHome(dirname(directory))
}

/** The kubeconfig of a cluster alone. */
export const ownKubeconfig = ({ directory }: ClusterPlace): string => join(directory, 'kubeconfig')

/** The kubeconfig that has the contexts of all clusters of a home. */
export const commonKubeconfig = (home: string): string => join(home, 'kubeconfig')

/** `--name staging`, or `--data-dir DIR`, or nothing: what one adds to a command that is to mean this cluster. */
export function placeFlagText({ name, home, shown }: ClusterPlace): string {
  if (home === undefined) return ` --data-dir ${shown}`
  return name === defaultClusterName ? '' : ` --name ${name}`
}

/** What is asked of a host. */
type Here = Pick<Host, 'workingDirectory'>

function placeIn(host: Here, home: string, { name, dataDir }: PlaceFlags): ClusterPlace {
  const { workingDirectory } = host
  const show = (directory: string) => shownPath(workingDirectory, directory)
  if (dataDir !== undefined) {
    if (dataDir === '') throw new CliError('--data-dir is empty: name a directory of its own')
    if (name !== undefined) throw new CliError('--name and --data-dir both say where the cluster is: give one of them')
    const directory = resolve(workingDirectory, dataDir)
    // A home, or a cluster of one, is the same place however it is named.
    if (basename(directory) === homeName) return placeIn(host, directory, {})
    return { name: defaultClusterName, directory, shown: dataDir, home: undefined }
  }
  if (name === undefined || name === defaultClusterName) {
    return { name: defaultClusterName, directory: home, shown: show(home), home }
  }
  if (!clusterName.test(name)) {
    throw new CliError(
      `"${name}" is no name for a cluster: give up to 63 lower case letters, digits and -, as in my-cluster`,
    )
  }
  const directory = join(clustersDirectory(home), name)
  return { name, directory, shown: show(directory), home }
}

const clusterName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => clusterName.test(name))
      .sort()
  } catch {
    return []
  }
}

/** Relative where that is shorter than the path itself, as people write it. */
export function shownPath(workingDirectory: string, path: string): string {
  const short = relative(workingDirectory, path)
  return short === '' || short.startsWith('..') ? path : short
}
