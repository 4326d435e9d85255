import { access } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import type { Host } from '../host.ts'
import { commonKubeconfig, findHome, homeName } from '../local/cluster-place.ts'

/** The kubeconfig files that a command goes by. */
export interface KubeconfigFiles {
  /** In the order in which they are asked: the first that has something wins. Not all need to be there. */
  readonly paths: readonly string[]
  /** The same as they were named, for messages. */
  readonly named: readonly string[]
  /** What `--kubeconfig` names stands alone. */
  readonly isExplicit: boolean
}

/** The flag, then KUBECONFIG, then the cluster started in this directory or the nearest above it, then kubectl's own. */
export async function kubeconfigFiles(host: Host, flag: string | undefined): Promise<KubeconfigFiles> {
  if (flag !== undefined) return { paths: [resolve(host.workingDirectory, flag)], named: [flag], isExplicit: true }
  const named = (host.variables.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (named.length > 0) {
    const all = new Map(named.toReversed().map((path) => [resolve(host.workingDirectory, path), path]))
    const paths = [...new Set(named.map((path) => resolve(host.workingDirectory, path)))]
    return { paths, named: paths.map((path) => all.get(path) ?? path), isExplicit: false }
  }
  const local = await localKubeconfig(host.workingDirectory)
  const paths = [local ?? join(host.homeDirectory, '.kube', 'config')]
  return { paths, named: paths, isExplicit: false }
}

/** The file that gets what no file has yet: the first that is there, or else the last. */
export async function defaultKubeconfigFile({ paths }: KubeconfigFiles): Promise<string> {
  for (const path of paths) if (await fileExists(path)) return path
  return paths.at(-1) ?? ''
}

/** The same as it was named. */
export async function defaultKubeconfigName(files: KubeconfigFiles): Promise<string> {
  const path = await defaultKubeconfigFile(files)
  return files.named[files.paths.indexOf(path)] ?? path
}

/** Whether a kubeconfig is the one that `coracle up` writes for the cluster it starts. */
export const isLocalKubeconfig = (path: string): boolean => basename(dirname(path)) === homeName

export async function fileExists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

async function localKubeconfig(directory: string): Promise<string | undefined> {
  const home = findHome(directory)
  return home !== undefined && (await fileExists(commonKubeconfig(home))) ? commonKubeconfig(home) : undefined
}
