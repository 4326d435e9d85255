import { attachmentName, type CsiDriver, hasReason, volumeAttachments } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { DriverVolume } from './driver-volume.ts'
import type { TextMap } from './volume-context.ts'

/** Whether the volumes of a driver are attached before they are used: also where nobody says what the driver needs, as upstream. */
export const isAttached = ({ lifecycle }: DriverVolume, driver: CsiDriver | undefined): boolean =>
  lifecycle === 'Persistent' && driver?.spec.attachRequired !== false

/**
 * What whoever has attached the volume to the node says to those who mount it; undefined where it is not attached yet. Why it
 * cannot be attached the controller tells.
 */
export async function attachmentMetadata(
  { driver, handle }: DriverVolume,
  nodeName: string,
  client: Client,
): Promise<TextMap | undefined> {
  try {
    const { metadata, status } = await client.get(volumeAttachments, { name: attachmentName(driver, handle, nodeName) })
    if (metadata.deletionTimestamp !== undefined || status?.attached !== true) return undefined
    return status.attachmentMetadata ?? {}
  } catch (error) {
    // A node may only read what is to be attached to it: until there is something, it is refused.
    if (hasReason(error, 'NotFound') || hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}
