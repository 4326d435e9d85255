import { access, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
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

/** Keeps what is to be known of the volume in a directory. It is whole or not there, also after a power cut. */
export async function keepRecord(directory: string, data: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o750 })
  const path = join(directory, recordFile)
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(data))
    await file.sync()
  } finally {
    await file.close()
  }
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

/** The volumes that a pod has of drivers. Rejects where that cannot be found out: none is given up for being unreadable. */
export async function publishesOf(places: VolumePlaces, podUid: string): Promise<readonly PublishRecord[]> {
  const above = podVolumesDirectory(places, podUid)
  const names = await namesIn(above)
  const found = names.map(async (name): Promise<readonly PublishRecord[]> => {
    const directory = join(above, name)
    const data = await readRecord(directory)
    if (data === undefined) return []
    const { driverName: driver, volumeHandle: handle, attachmentID, volumeLifecycleMode } = data
    const lifecycle = volumeLifecycleMode === 'Ephemeral' ? 'Ephemeral' : 'Persistent'
    const attachment = attachmentID ? { attachmentId: attachmentID } : {}
    return [{ podUid, directory, name, driver, handle, lifecycle, ...attachment }]
  })
  return (await Promise.all(found)).flat()
}

/** The uids of all pods of which there may be some. */
export const podsWithDirectories = ({ podsDirectory }: VolumePlaces): Promise<readonly string[]> =>
  namesIn(podsDirectory)

/** Those of all pods of the node. */
export async function allPublishes(places: VolumePlaces): Promise<readonly PublishRecord[]> {
  const podUids = await podsWithDirectories(places)
  return (await Promise.all(podUids.map((podUid) => publishesOf(places, podUid)))).flat()
}

/** Whether something is known of the volume in a directory. */
export const hasRecord = (directory: string): Promise<boolean> =>
  access(join(directory, recordFile)).then(
    () => true,
    (error: NodeJS.ErrnoException) => unlessMissing(error) ?? false,
  )

/**
 * Removes a directory about a volume with its mount, which the driver has taken away. Rejects where something is still mounted, or
 * something is left in its place: it may be what the volume holds.
 */
export async function removeRecord(directory: string, mount: string): Promise<void> {
  await removeMount(mount)
  await rm(join(directory, recordFile), { force: true })
  await rm(join(directory, `${recordFile}.new`), { force: true })
  await removeEmpty(directory)
}

/** Removes the directory that a volume was mounted at. */
export async function removeMount(mount: string): Promise<void> {
  if (await isMounted(mount)) throw new Error(`${mount} is still mounted`)
  await removeEmpty(mount)
}

/** Removes an empty directory, unless it is gone. */
async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

const isMounted = (path: string): Promise<boolean> => isMountPoint(path).catch(() => false)

interface RecordData {
  readonly driverName: string
  readonly volumeHandle: string
  readonly attachmentID?: string
  readonly volumeLifecycleMode?: string
}

/** Undefined where there is none. */
async function readRecord(directory: string): Promise<RecordData | undefined> {
  const path = join(directory, recordFile)
  const text = await readFile(path, 'utf8').catch(unlessMissing)
  if (text === undefined) return undefined
  const data = parsed(text)
  if (typeof data?.driverName === 'string' && typeof data.volumeHandle === 'string') return data as RecordData
  throw new Error(`${path} does not say which volume is there`)
}

function parsed(text: string): Partial<RecordData> | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(unlessMissing)) ?? []

/** What lies beside directories about volumes is none. */
function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
