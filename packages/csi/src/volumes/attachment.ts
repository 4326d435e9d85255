import { attachmentName, type CsiDriver, hasReason, volumeAttachments } from '@coracle/api'
import type { Client } from '@coracle/client'
import { rpcCodes } from '@coracle/environment/grpc-errors'
import type { DriverVolume } from './driver-volume.ts'
import type { TextMap } from './volume-context.ts'

/** Whether the volumes of a driver are attached before they are used: also where nobody says what the driver needs, as upstream. */
export const isAttached = ({ lifecycle }: DriverVolume, driver: CsiDriver | undefined): boolean =>
  lifecycle === 'Persistent' && driver?.spec.attachRequired !== false

/** A volume on its way to a node. */
export interface Attachment {
  /** What whoever has attached it says to those who mount it; undefined where it is not attached yet. */
  readonly metadata: TextMap | undefined
  /** Whether it is not, as no more volumes can be attached to the node. */
  readonly isExhausted: boolean
}

/** How far attaching a volume to the node is. Why else it cannot be attached the controller tells. */
export async function attachmentOf(
  { driver, handle }: DriverVolume,
  nodeName: string,
  client: Client,
): Promise<Attachment> {
  try {
    const { metadata, status } = await client.get(volumeAttachments, { name: attachmentName(driver, handle, nodeName) })
    if (metadata.deletionTimestamp === undefined && status?.attached === true)
      return { metadata: status.attachmentMetadata ?? {}, isExhausted: false }
    return { metadata: undefined, isExhausted: status?.attachError?.errorCode === rpcCodes.resourceExhausted }
  } catch (error) {
    // A node may only read what is to be attached to it: until there is something, it is refused.
    if (hasReason(error, 'NotFound') || hasReason(error, 'Forbidden'))
      return { metadata: undefined, isExhausted: false }
    throw error
  }
}
