import { chmod, lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '@coracle/api'
import type { MountedVolume } from './claimed-volumes.ts'

/** What the group of a volume may do with what is in it, and with directories, which keep it for what is made in them. */
const groupReads = 0o440
const groupWrites = 0o660
const groupEnters = 0o110
const setGroupId = 0o2000

/**
 * Gives a volume and all that is in it to the group that its pod names (`fsGroup`), which may then use it, as upstream's SetVolumeOwnership does. With
 * `OnRootMismatch` nothing is done where the volume itself is that group's already.
 */
export async function giveToGroup({ path, readOnly }: MountedVolume, { spec }: Pod): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = spec.securityContext ?? {}
  if (fsGroup === undefined) return
  if (fsGroupChangePolicy === 'OnRootMismatch') {
    const { gid, mode } = await lstat(path)
    if (gid === fsGroup && (mode & setGroupId) !== 0) return
  }
  await give(path, fsGroup, readOnly)
}

async function give(path: string, group: number, readOnly: boolean): Promise<void> {
  const found = await lstat(path)
  if (found.gid !== group) await lchown(path, found.uid, group)
  if (found.isSymbolicLink()) return
  const wanted =
    (found.mode & 0o7777) | (readOnly ? groupReads : groupWrites) | (found.isDirectory() ? groupEnters | setGroupId : 0)
  if (wanted !== (found.mode & 0o7777)) await chmod(path, wanted)
  if (!found.isDirectory()) return
  for (const name of await readdir(path)) await give(join(path, name), group, readOnly)
}

/** Whether what this process makes can be another's. */
export const canGiveAway = (): boolean => process.getuid?.() === 0
