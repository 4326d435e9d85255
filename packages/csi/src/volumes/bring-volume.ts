import { mkdir } from 'node:fs/promises'
import { type CsiDriver, type Pod, secrets } from '@coracle/api'
import type { Client } from '@coracle/client'
import { RpcError, rpcCodes } from '@coracle/environment/grpc-errors'
import type { DriverConnection } from '../driver/driver-connection.ts'
import { capabilityOf } from '../driver/volume-capability.ts'
import { nodeCapabilities } from '../wire/messages.ts'
import { nodeMethods } from '../wire/methods.ts'
import type { DriverVolume, SecretKey } from './driver-volume.ts'
import { podAttributes, type TextMap, tokenAttributes } from './volume-context.ts'
import { globalMount, podMount } from './volume-paths.ts'
import { keepRecord, removeMount } from './volume-records.ts'

/** A volume on its way to a pod, and what there is to know of its driver. */
export interface VolumeTarget {
  readonly client: Client
  readonly pod: Pod
  readonly volume: DriverVolume
  readonly driver: CsiDriver | undefined
  readonly connection: DriverConnection
  readonly capabilities: ReadonlySet<number>
  /** What whoever has attached the volume says. */
  readonly publishContext: TextMap
  /** Aborting it gives up what the driver is asked for. */
  readonly signal: AbortSignal | undefined
}

/** Errors of gRPC after which a driver may still be at work, or that say nothing of the volume (upstream's IsFinalError). */
const unfinished: ReadonlySet<number> = new Set([
  rpcCodes.cancelled,
  rpcCodes.deadlineExceeded,
  rpcCodes.unavailable,
  rpcCodes.resourceExhausted,
  rpcCodes.aborted,
])

/** Makes the volume ready for all pods of the node, where its driver does that apart. Gives where it is then. */
export async function stageVolume(target: VolumeTarget, directory: string): Promise<string | undefined> {
  const { client, pod, volume, connection, capabilities, publishContext, signal } = target
  const { driver, handle, stageSecret, attributes } = volume
  if (!stages(volume, capabilities)) return undefined
  const credentials = await secretOf(client, 'NodeStageSecretRef', stageSecret)
  const stagingTargetPath = globalMount(directory)
  await keepRecord(directory, { driverName: driver, volumeHandle: handle })
  await mkdir(stagingTargetPath, { recursive: true, mode: 0o750 })
  const request = {
    volumeId: handle,
    publishContext,
    stagingTargetPath,
    volumeCapability: capabilityOf({ ...volume, fsGroup: groupOf(pod) }, capabilities),
    secrets: credentials,
    volumeContext: attributes,
  }
  await connection.call(nodeMethods.stageVolume, request, { signal })
  return stagingTargetPath
}

/** Whether a volume is made ready for the node before it is brought to pods. */
export const stages = ({ lifecycle }: DriverVolume, capabilities: ReadonlySet<number>): boolean =>
  lifecycle !== 'Ephemeral' && capabilities.has(nodeCapabilities.stageUnstageVolume)

/** Brings the volume to its pod, or once more where it `isThere`. Gives where it is. */
export async function publishVolume(
  target: VolumeTarget,
  directory: string,
  staged: string | undefined,
  { isThere }: { readonly isThere: boolean } = { isThere: false },
): Promise<string> {
  const { client, pod, volume, driver, connection, capabilities, publishContext, signal } = target
  const tokens = await tokenAttributes(pod, driver, client)
  const hasTokensAsSecrets = driver?.spec.serviceAccountTokenInSecrets === true
  const credentials = await secretOf(client, 'NodePublishSecretRef', volume.publishSecret)
  const targetPath = podMount(directory)
  const request = {
    volumeId: volume.handle,
    publishContext,
    stagingTargetPath: staged ?? '',
    targetPath,
    volumeCapability: capabilityOf({ ...volume, fsGroup: groupOf(pod) }, capabilities),
    readonly: volume.readOnly,
    secrets: hasTokensAsSecrets ? { ...credentials, ...tokens } : credentials,
    volumeContext: {
      ...volume.attributes,
      ...podAttributes(pod, driver, volume.lifecycle === 'Ephemeral'),
      ...(hasTokensAsSecrets ? {} : tokens),
    },
  }
  try {
    await connection.call(nodeMethods.publishVolume, request, { signal })
  } catch (error) {
    if (!isThere && error instanceof RpcError && !unfinished.has(error.code))
      await removeMount(targetPath).catch(() => {})
    throw error
  }
  return targetPath
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const groupOf = ({ spec }: Pod): number | undefined => spec.securityContext?.fsGroup

async function secretOf(client: Client, field: string, key: SecretKey | undefined): Promise<TextMap> {
  if (key === undefined) return {}
  try {
    const { data = {} } = await client.get(secrets, key)
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
    )
  } catch (error) {
    throw new Error(`fetching ${field} ${key.namespace}/${key.name} failed: ${messageOf(error)}`)
  }
}
