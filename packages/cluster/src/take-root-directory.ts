import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Says in a root directory which node has it. */
const ownerFile = 'coracle-node'

/**
 * Makes a root directory a node's own, which others may have as well, such as `/var/lib/kubelet`. Rejects where another node has it, or has left pods
 * there: those that a node does not know it removes, with what is in their volumes.
 */
export async function takeRootDirectory(rootDirectory: string, owner: string): Promise<void> {
  const path = join(rootDirectory, ownerFile)
  const present = await readFile(path, 'utf8').catch(unlessMissing)
  if (present === `${owner}\n`) return
  const remedy = 'choose another directory with --root-dir, or empty this one once nobody uses it any more'
  if (present !== undefined)
    throw new Error(`${rootDirectory} is that of another node (${present.trim()}), as ${path} says: ${remedy}`)
  const pods = (await readdir(join(rootDirectory, 'pods')).catch(unlessMissing)) ?? []
  if (pods.length > 0)
    throw new Error(`${rootDirectory} has pods of another node agent, which would lose their volumes: ${remedy}`)
  await mkdir(rootDirectory, { recursive: true, mode: 0o750 })
  // Of two that come at once one is refused.
  await writeFile(path, `${owner}\n`, { flag: 'wx' })
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
