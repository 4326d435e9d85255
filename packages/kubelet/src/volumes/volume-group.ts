import { constants } from 'node:fs'
import { chmod, chown, type FileHandle, lchown, open, readdir } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import type { MountedVolume } from './claimed-volumes.ts'
import { O_PATH } from './exact-path.ts'

/** What the group of a volume may do with what is in it, and with directories, which keep it for what is made in them. */
const groupReads = 0o440
const groupWrites = 0o660
const groupEnters = 0o110
const setGroupId = 0o2000
/** Directories in each other, at most: a handle is open for each. */
const depthMax = 1_000

/**
 * Gives a volume and all that is in it to the group that its pod names (`fsGroup`), which may then use it, as upstream's SetVolumeOwnership does. With
 * `OnRootMismatch` nothing is done where the volume itself is that group's already. For Linux.
 */
export async function giveToGroup({ path, readOnly }: MountedVolume, { spec }: Pod): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = spec.securityContext ?? {}
  if (fsGroup === undefined) return
  const volume = await open(path, O_PATH | constants.O_NOFOLLOW)
  try {
    const { gid, mode } = await volume.stat()
    if (fsGroupChangePolicy === 'OnRootMismatch' && gid === fsGroup && (mode & setGroupId) !== 0) return
    await giveOpened(volume, path, { group: fsGroup, readOnly })
  } finally {
    await volume.close()
  }
}

/**
 * Gives what is open, and what is in it. Containers of other pods, or of this one before the node agent was started anew, may put links in the place of
 * what is looked at meanwhile: all but links is given by handles. `place` is where it was found, for what is a link.
 */
export async function giveOpened(
  opened: FileHandle,
  place: string | Buffer,
  to: { readonly group: number; readonly readOnly: boolean },
  depth = 0,
): Promise<void> {
  const { group, readOnly } = to
  const found = await opened.stat()
  if (found.isSymbolicLink()) return found.gid === group ? undefined : lchown(place, found.uid, group)
  const own = `/proc/self/fd/${opened.fd}`
  if (found.gid !== group) await chown(own, found.uid, group)
  const isDirectory = found.isDirectory()
  const wanted =
    (found.mode & 0o7777) | (readOnly ? groupReads : groupWrites) | (isDirectory ? groupEnters | setGroupId : 0)
  if (wanted !== (found.mode & 0o7777)) await chmod(own, wanted)
  if (!isDirectory) return
  if (depth === depthMax) throw new Error(`more than ${depthMax} directories are in each other`)
  for (const name of await readdir(own, { encoding: 'buffer' })) {
    const inner = Buffer.concat([Buffer.from(`${own}/`), name])
    const child = await open(inner, O_PATH | constants.O_NOFOLLOW).catch(unlessGone)
    if (child === undefined) continue
    await giveOpened(child, inner, to, depth + 1).finally(() => child.close())
  }
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
