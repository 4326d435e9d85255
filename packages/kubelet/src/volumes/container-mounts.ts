import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Container } from '@coracle/api'
import { expand } from '../env/expand.ts'
import type { Mount } from '../runtimes/runtime.ts'
import type { MountedVolumes } from './claimed-volumes.ts'

/** A path in a volume has no more bytes than the host takes. */
const subPathBytesMax = 4_096

/**
 * What of the volumes of its pod a container sees, and where. A part of a volume that is not there yet is made. `values` are the
 * variables of the container, for paths that are made of them.
 */
export function containerMounts(
  { volumeMounts = [] }: Container,
  volumes: MountedVolumes,
  values: ReadonlyMap<string, string>,
): Promise<readonly Mount[]> {
  return Promise.all(
    volumeMounts.map(async ({ name, mountPath, readOnly, subPath, subPathExpr }) => {
      const volume = volumes.get(name)
      const mount = { name, containerPath: mountPath }
      if (volume === undefined) return mount
      const part = subPath || expandedPath(subPathExpr, values)
      const hostPath = part === '' ? volume.path : join(volume.path, part)
      if (part !== '' && !volume.readOnly) await mkdir(hostPath, { recursive: true, mode: 0o700 })
      return { ...mount, hostPath, ...(readOnly === true || volume.readOnly ? { readOnly: true } : {}) }
    }),
  )
}

/** Throws where the variables lead out of the volume. */
function expandedPath(subPathExpr: string | undefined, values: ReadonlyMap<string, string>): string {
  if (!subPathExpr) return ''
  const path = expand(subPathExpr, (name) => values.get(name), subPathBytesMax)
  if (path === undefined || path.startsWith('/') || path.split('/').includes('..')) {
    throw new Error(`subPathExpr ${JSON.stringify(subPathExpr)} does not name a path in the volume`)
  }
  return path
}
