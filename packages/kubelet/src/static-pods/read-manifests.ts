import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '@coracle/api'
import { parseGoYaml } from '@coracle/client/go-yaml'
import { keyOf, staticPodOf } from './static-pod.ts'

/** A manifest has so many bytes at most: upstream's maxConfigLength. */
const manifestBytesMax = 10 * 1024 * 1024

/** What the manifests of a node say. */
export interface Manifests {
  /** By the path of each. */
  readonly pods: ReadonlyMap<string, Pod>
  /** What is wrong with others, by path. */
  readonly problems: ReadonlyMap<string, string>
}

/**
 * Reads the manifests of a node: a file, or those of a directory whose names do not begin with a dot, each with one pod (upstream's sourceFile). Of two that
 * are called the same, the first counts. None where there is no such path; rejects where that cannot be found out.
 */
export async function readManifests(path: string, nodeName: string, seenAt: string): Promise<Manifests> {
  const problems = new Map<string, string>()
  const pods = new Map<string, Pod>()
  const keys = new Set<string>()
  for (const file of await manifestsAt(path)) {
    try {
      const pod = await readManifest(file, nodeName, seenAt)
      if (pod === undefined) continue
      if (keys.has(keyOf(pod))) throw new Error(`there is another pod ${keyOf(pod)}`)
      keys.add(keyOf(pod))
      pods.set(file, pod)
    } catch (error) {
      problems.set(file, error instanceof Error ? error.message : String(error))
    }
  }
  return { pods, problems }
}

async function manifestsAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = (await readdir(path)).filter((name) => !name.startsWith('.'))
    return names.sort().map((name) => join(path, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Undefined for what is no file. */
async function readManifest(file: string, nodeName: string, seenAt: string): Promise<Pod | undefined> {
  const found = await stat(file)
  if (!found.isFile()) return undefined
  if (found.size > manifestBytesMax) throw new Error(`it is larger than ${manifestBytesMax} bytes`)
  const text = await readFile(file, 'utf8')
  return staticPodOf(parseGoYaml(text), { nodeName, path: file, seenAt })
}
