import { mkdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Container } from '@coracle/api'
import { expand } from '../env/expand.ts'
import type { Mount } from '../runtimes/runtime.ts'
import type { MountedVolume, MountedVolumes } from './claimed-volumes.ts'
import { makeWithin } from './exact-path.ts'
import { pathWithin } from './path-within.ts'

/** A path in a volume has no more bytes than the host takes. */
const subPathBytesMax = 4_096

/** Volumes that are images, by name: what the runtime calls each, and what the pod does. */
export type ImageVolumes = ReadonlyMap<string, { readonly image: string; readonly askedImage: string }>

const noImages: ImageVolumes = new Map()

type VolumeMount = NonNullable<Container['volumeMounts']>[number]

/**
 * What of the volumes of its pod a container sees, and where. A part of a volume that is not there yet is made. `values` are the
 * variables of the container, for paths that are made of them. `isRecursive` tells whether one that names `recursiveReadOnly` is so.
 */
export function containerMounts(
  { volumeMounts = [] }: Container,
  volumes: MountedVolumes,
  values: ReadonlyMap<string, string>,
  images: ImageVolumes = noImages,
  isRecursive: (asked: VolumeMount) => Promise<boolean> = async () => false,
): Promise<readonly Mount[]> {
  return Promise.all(
    volumeMounts.map(async (asked) => {
      const { name, mountPath, readOnly, recursiveReadOnly, mountPropagation, subPath, subPathExpr } = asked
      const volume = volumes.get(name)
      const mount = { name, containerPath: mountPath }
      const part = subPath || expandedPath(subPathExpr, values)
      const image = images.get(name)
      if (image === undefined && volume === undefined) return mount
      const recursive = recursiveReadOnly !== undefined && (await isRecursive(asked)) ? { recursiveReadOnly: true } : {}
      if (image !== undefined) return { ...mount, image: { ...image, path: part }, readOnly: true, ...recursive }
      if (volume === undefined) return mount
      const hostPath = part === '' ? volume.path : await partOf(volume, part)
      return {
        ...mount,
        hostPath,
        ...(part === '' ? {} : { volumePath: volume.path }),
        ...(readOnly === true || volume.readOnly ? { readOnly: true } : {}),
        ...recursive,
        ...(mountPropagation === undefined ? {} : { propagation: mountPropagation }),
      }
    }),
  )
}

/** A part of a volume. What leads there stays in the volume, whoever made it. One that is made has the mode of the volume, as upstream. */
async function partOf({ path, readOnly }: MountedVolume, part: string): Promise<string> {
  const found = await pathWithin(path, part)
  const isThere = await stat(found).catch(() => undefined)
  if (isThere === undefined && !readOnly) await makePart(path, relative(path, found))
  return found
}

async function makePart(volume: string, way: string): Promise<void> {
  const { mode } = await stat(volume)
  if (process.platform === 'linux') makeWithin(await realpath(volume), way, 'directory', mode & 0o7777)
  else await mkdir(join(volume, way), { recursive: true, mode: mode & 0o7777 })
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
