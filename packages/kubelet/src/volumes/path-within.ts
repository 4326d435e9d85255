import { readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Links that a path may lead through; more are taken for a circle, as the host does. */
const linksMax = 40

/**
 * The place of a path in a directory, with links taken as if the directory were the root of all files: none leads out of it. What does
 * not exist is where it would be. Rejects where links go round in circles.
 */
export async function pathWithin(directory: string, path: string): Promise<string> {
  const found: string[] = []
  const left = path.split('/').reverse()
  for (let links = 0; left.length > 0; ) {
    const name = left.pop() ?? ''
    if (name === '' || name === '.') continue
    if (name === '..') {
      found.pop()
      continue
    }
    const target = await readlink(join(directory, ...found, name)).catch(() => undefined)
    if (target === undefined) {
      found.push(name)
      continue
    }
    links++
    if (links > linksMax) throw new Error(`${path} goes through too many links`)
    if (target.startsWith('/')) found.length = 0
    left.push(...target.split('/').reverse())
  }
  return join(directory, ...found)
}
