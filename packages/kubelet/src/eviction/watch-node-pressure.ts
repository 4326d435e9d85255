import { mkdir } from 'node:fs/promises'
import { diskUse } from '../storage/disk-use.ts'
import { NodePressure, type NodePressureParts } from './node-pressure.ts'
import { observeSupplies } from './supplies.ts'

/** What looks at this host, and has `du` measure pods. */
export function watchNodePressure(parts: Omit<NodePressureParts, 'measure' | 'observe'>): NodePressure {
  const { directory, runtime } = parts
  const observe = async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    // Where the images are may be out of reach, as on another machine: of memory and the node's own files that says nothing.
    const fileSystem = await runtime.images?.fileSystem().catch(() => undefined)
    return observeSupplies(directory, fileSystem?.path)
  }
  return new NodePressure({ ...parts, measure: diskUse, observe })
}
