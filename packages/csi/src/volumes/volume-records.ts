import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMountPoint } from '@coracle/environment/mounts'
import type { DriverVolume } from './driver-volume.ts'
import { podVolumesDirectory, type VolumePlaces } from './volume-paths.ts'

/** What is known on disk of a volume that a pod has, or is about to have: the agent may be another by the time that it goes. */
export interface PublishRecord {
  readonly podUid: string
  /** The directory about it. */
  readonly directory: string
  readonly name: string
  readonly driver: string
  readonly handle: string
  readonly lifecycle: DriverVolume['lifecycle']
  /** Absent: it is not attached to the node. */
  readonly attachmentId?: string
}

/** As upstream calls it and what is in it. */
const recordFile = 'vol_data.json'

/** Keeps what is to be known of the volume in a directory. */
export async function keepRecord(directory: string, data: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o750 })
  const path = join(directory, recordFile)
  await writeFile(`${path}.new`, JSON.stringify(data), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export const publishData = (record: PublishRecord, nodeName: string): Readonly<Record<string, string>> => ({
  attachmentID: record.attachmentId ?? '',
  driverName: record.driver,
  nodeName,
  specVolID: record.name,
  volumeHandle: record.handle,
  volumeLifecycleMode: record.lifecycle,
})

/** The volumes that a pod has of drivers. */
export async function publishesOf(places: VolumePlaces, podUid: string): Promise<readonly PublishRecord[]> {
  const above = podVolumesDirectory(places, podUid)
  const names = await readdir(above).catch(() => [])
  const found = names.map(async (name): Promise<readonly PublishRecord[]> => {
    const directory = join(above, name)
    const data = await readRecord(directory)
    const { driverName: driver, volumeHandle: handle, attachmentID, volumeLifecycleMode } = data ?? {}
    if (driver === undefined || handle === undefined) return []
    const lifecycle = volumeLifecycleMode === 'Ephemeral' ? 'Ephemeral' : 'Persistent'
    const attachment = attachmentID ? { attachmentId: attachmentID } : {}
    return [{ podUid, directory, name, driver, handle, lifecycle, ...attachment }]
  })
  return (await Promise.all(found)).flat()
}

/** Those of all pods of the node. */
export async function allPublishes(places: VolumePlaces): Promise<readonly PublishRecord[]> {
  const podUids = await readdir(places.podsDirectory).catch(() => [])
  return (await Promise.all(podUids.map((podUid) => publishesOf(places, podUid)))).flat()
}

/** Whether something is known of the volume in a directory. */
export const hasRecord = async (directory: string): Promise<boolean> => (await readRecord(directory)) !== undefined

/**
 * Removes a directory about a volume with its mount, which the driver has taken away. Rejects where something is still mounted, or
 * something is left in its place: it may be what the volume holds.
 */
export async function removeRecord(directory: string, mount: string): Promise<void> {
  await removeMount(mount)
  await rm(join(directory, recordFile), { force: true })
  await rm(join(directory, `${recordFile}.new`), { force: true })
  await rmdir(directory).catch(unlessMissing)
}

/** Removes the directory that a volume was mounted at. */
export async function removeMount(mount: string): Promise<void> {
  if (await isMounted(mount)) throw new Error(`${mount} is still mounted`)
  await rmdir(mount).catch(unlessMissing)
}

const isMounted = (path: string): Promise<boolean> => isMountPoint(path).catch(() => false)

async function readRecord(directory: string): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, recordFile), 'utf8'))
  } catch {
    return undefined
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
