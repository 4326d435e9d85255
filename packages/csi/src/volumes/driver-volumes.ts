import {
  attachmentName,
  type CsiDriver,
  csiDrivers,
  hasReason,
  type PersistentVolume,
  type Pod,
  uniqueVolumeName,
  type Volume,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { unmount as unmountPath } from '@coracle/environment/mounts'
import type { CallLimits, DriverConnection } from '../driver/driver-connection.ts'
import { updatePeriodMs } from '../registration/allocatable-updates.ts'
import type { RegisteredDriver } from '../registration/driver-registry.ts'
import { Turns } from '../turns.ts'
import { nodeMethods } from '../wire/methods.ts'
import { attachmentOf, isAttached } from './attachment.ts'
import { messageOf, publishVolume, stages, stageVolume } from './bring-volume.ts'
import { checkLifecycle, type DriverVolume, driverVolumeOf } from './driver-volume.ts'
import { givesToGroup } from './group-policy.ts'
import type { TextMap } from './volume-context.ts'
import { globalMount, podMount, podVolumesDirectory, stageDirectory, type VolumePlaces } from './volume-paths.ts'
import {
  allPublishes,
  hasRecord,
  keepRecord,
  type PublishRecord,
  podsWithDirectories,
  publishData,
  publishesOf,
  removeRecord,
} from './volume-records.ts'
import { VolumesInUse } from './volumes-in-use.ts'

export interface DriverVolumesOptions extends VolumePlaces {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
  /** Undefined where no such driver is registered. */
  readonly driver: (name: string) => RegisteredDriver | undefined
  /** Asks a driver how many of its volumes fit on the node, and tells the cluster. */
  readonly tellRoom: (driver: string) => Promise<void>
  /** Aborted when the node agent is about to stop: drivers are asked no more, but by `unmountAll`. */
  readonly signal?: AbortSignal | undefined
}

/** Where a volume is, or why it is not there. */
export type BroughtVolume =
  | {
      readonly path: string
      readonly readOnly: boolean
      /** Whether what is in it stays whose it is, whatever group the pod names. */
      readonly keepsGroup: boolean
      readonly driver: string
    }
  | {
      /** What the event says that tells it. */
      readonly problem: string
      /** Whether that is as it should be for a while yet. */
      readonly isWaiting: boolean
      /** Why the node does not take the pod on, where that is so. */
      readonly refusal?: string
    }

/** For so long nobody is told that a volume has yet to be attached: upstream's podAttachAndMountTimeout. */
const attachMaxMs = 123_000

/** The reason of pods that a node does not take on because no more volumes can be attached to it. */
const exhausted = 'VolumeAttachmentLimitExceeded'

/** What a call takes that is made as the node agent stops. */
const lastCallTimeoutMs = 10_000

/**
 * The volumes of drivers that pods of a node have. What is done about one volume is done one after the other; what has been begun is
 * known on disk before it begins, and until it is undone.
 */
export class DriverVolumes {
  readonly #options: DriverVolumesOptions
  readonly #turns = new Turns()
  /** Since when volumes are waited for that are not attached yet. */
  readonly #waitingSinceMs = new Map<string, number>()
  readonly #inUse: VolumesInUse

  constructor(options: DriverVolumesOptions) {
    this.#options = options
    this.#inUse = new VolumesInUse(options.client, options.nodeName, options)
  }

  /** Brings a volume of a pod to the node, and to its pod. May be asked again where it is there. */
  async mount(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<BroughtVolume> {
    const wanted = driverVolumeOf(pod, volume, persistent)
    if (wanted === undefined) return refused(`volume ${volume.name} is of no CSI driver`)
    if (wanted.isBlock)
      return refused(`MapVolume.SetUpDevice failed for volume "${wanted.name}" : block devices are not mapped here`)
    return this.#turns.take(keyOf(wanted), () => this.#mount(pod, wanted))
  }

  /** Whether a driver wants to be asked again, from time to time, for volumes that are there: what they hold may have changed. */
  async repeats(driver: string): Promise<boolean> {
    return (await this.#driverObject(driver))?.spec.requiresRepublish === true
  }

  /** Asks the driver again for a volume that a pod has. Gives what is wrong with that, if anything is; a pod that has it no longer does not get it. */
  async repeat(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<string | undefined> {
    const wanted = driverVolumeOf(pod, volume, persistent)
    return wanted && this.#turns.take(keyOf(wanted), () => this.#repeat(pod, wanted))
  }

  /** Takes the volumes of a pod away. Rejects where one has to stay for now, and takes the others. */
  async unmount(podUid: string, limits: CallLimits = { signal: this.#options.signal }): Promise<void> {
    const records = await publishesOf(this.#options, podUid)
    const results = await Promise.allSettled(
      records.map((record) => this.#turns.take(keyOf(record), () => this.#unmount(record, limits))),
    )
    for (const key of this.#waitingSinceMs.keys()) if (key.startsWith(`${podUid} `)) this.#waitingSinceMs.delete(key)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /**
   * Takes all volumes away, as on a node that is switched off: where a driver does not do it, what is mounted is unmounted, and
   * remains known.
   */
  async unmountAll(): Promise<void> {
    const limits = { timeoutMs: lastCallTimeoutMs }
    const podUids = await podsWithDirectories(this.#options)
    const results = await Promise.allSettled(podUids.map((podUid) => this.unmount(podUid, limits)))
    const failed = podUids.filter((_, index) => results[index]?.status === 'rejected')
    for (const podUid of failed) await this.#unmountLeft(podUid)
  }

  async #unmountLeft(podUid: string): Promise<void> {
    try {
      for (const { directory, driver, handle } of await publishesOf(this.#options, podUid)) {
        await unmountPath(podMount(directory)).catch(() => {})
        await unmountPath(globalMount(stageDirectory(this.#options, driver, handle))).catch(() => {})
      }
    } catch (error) {
      this.#options.environment.logger.warn('volumes of a pod stay mounted', { podUid, error })
    }
  }

  /** Has the Node say which attached volumes are in use. */
  async tellInUse(): Promise<void> {
    await this.#inUse.tell()
  }

  async #mount(pod: Pod, volume: DriverVolume): Promise<BroughtVolume> {
    const { signal } = this.#options
    const firstStep = volume.lifecycle === 'Ephemeral' ? 'MountVolume.SetUp' : 'MountVolume.MountDevice'
    let step = firstStep
    try {
      signal?.throwIfAborted()
      const driver = await this.#driverObject(volume.driver)
      const attachment = await this.#attachment(pod, volume, driver)
      if ('problem' in attachment) return attachment
      step = 'MountVolume.NewMounter initialization'
      checkLifecycle(volume, driver)
      step = firstStep
      const { connection } = this.#registered(volume)
      const capabilities = await connection.capabilities({ signal })
      const record = this.#recordOf(pod, volume, driver)
      await keepRecord(record.directory, publishData(record, this.#options.nodeName))
      // It may have been detached before it was known to be in use.
      if (record.attachmentId !== undefined && (await this.#inUse.tell())) {
        const again = await this.#attachment(pod, volume, driver)
        if ('problem' in again) return again
      }
      const { client } = this.#options
      const target = { ...attachment, pod, volume, driver, connection, capabilities, client, signal }
      const staged = await stageVolume(target, stageDirectory(this.#options, volume.driver, volume.handle))
      step = 'MountVolume.SetUp'
      const path = await publishVolume(target, record.directory, staged)
      const keepsGroup = !givesToGroup(volume, driver, capabilities)
      return { path, readOnly: volume.readOnly, keepsGroup, driver: volume.driver }
    } catch (error) {
      const problem = `${step} failed for volume "${volume.name}" : ${messageOf(error)}`
      // What the agent gives up as it stops the next one does: that is nothing to tell the pod.
      return { problem, isWaiting: signal?.aborted === true }
    }
  }

  async #repeat(pod: Pod, volume: DriverVolume): Promise<string | undefined> {
    const { signal, client } = this.#options
    try {
      signal?.throwIfAborted()
      const driver = await this.#driverObject(volume.driver)
      const { directory } = this.#recordOf(pod, volume, driver)
      if (!(await hasRecord(directory))) return undefined
      const attachment = await this.#attachment(pod, volume, driver)
      if ('problem' in attachment) return attachment.isWaiting ? undefined : attachment.problem
      const { connection } = this.#registered(volume)
      const capabilities = await connection.capabilities({ signal })
      const target = { ...attachment, pod, volume, driver, connection, capabilities, client, signal }
      const stage = stageDirectory(this.#options, volume.driver, volume.handle)
      const staged = stages(volume, capabilities) ? globalMount(stage) : undefined
      await publishVolume(target, directory, staged, { isThere: true })
      return undefined
    } catch (error) {
      return signal?.aborted === true
        ? undefined
        : `MountVolume.SetUp failed for volume "${volume.name}" : ${messageOf(error)}`
    }
  }

  /** Where the volume has to be attached first: what whoever did it says, or that it is not yet. */
  async #attachment(
    pod: Pod,
    volume: DriverVolume,
    driver: CsiDriver | undefined,
  ): Promise<{ readonly publishContext: TextMap } | Extract<BroughtVolume, { readonly problem: string }>> {
    if (!isAttached(volume, driver)) return { publishContext: {} }
    const { client, nodeName, environment } = this.#options
    const { metadata: publishContext, isExhausted } = await attachmentOf(volume, nodeName, client)
    const key = `${pod.metadata.uid} ${volume.name}`
    if (publishContext !== undefined) {
      this.#waitingSinceMs.delete(key)
      return { publishContext }
    }
    const nowMs = environment.clock.monotonicMs()
    const sinceMs = this.#waitingSinceMs.get(key) ?? nowMs
    this.#waitingSinceMs.set(key, sinceMs)
    const { podName } = volume
    const why = `unmounted volumes=[${podName}], unattached volumes=[${podName}], failed to process volumes=[]: context deadline exceeded`
    const problem = `Unable to attach or mount volumes: ${why}`
    const isWaiting = nowMs - sinceMs < attachMaxMs
    if (isWaiting || !isExhausted || updatePeriodMs(driver) === 0) return { problem, isWaiting }
    this.#options.tellRoom(volume.driver).catch((error: unknown) =>
      environment.logger.warn('a driver did not say how many of its volumes fit on the node', {
        driver: volume.driver,
        error,
      }),
    )
    return {
      problem: `Node has reached its volume attachment limit, rejecting pod. ${why}`,
      isWaiting,
      refusal: exhausted,
    }
  }

  #registered({ driver, lifecycle }: Pick<DriverVolume, 'driver' | 'lifecycle'>): RegisteredDriver {
    const found = this.#options.driver(driver)
    if (found !== undefined) return found
    const who =
      lifecycle === 'Ephemeral'
        ? 'mounter.SetUpAt failed to get CSI client'
        : 'attacher.MountDevice failed to create newCsiDriverClient'
    throw new Error(`kubernetes.io/csi: ${who}: driver name ${driver} not found in the list of registered CSI drivers`)
  }

  async #driverObject(name: string): Promise<CsiDriver | undefined> {
    try {
      return await this.#options.client.get(csiDrivers, { name })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  #recordOf(pod: Pod, volume: DriverVolume, driver: CsiDriver | undefined): PublishRecord {
    const podUid = pod.metadata.uid ?? ''
    const { name, driver: driverName, handle, lifecycle } = volume
    const { nodeName } = this.#options
    return {
      podUid,
      directory: `${podVolumesDirectory(this.#options, podUid)}/${name}`,
      name,
      driver: driverName,
      handle,
      lifecycle,
      ...(isAttached(volume, driver) ? { attachmentId: attachmentName(driverName, handle, nodeName) } : {}),
    }
  }

  /** From the pod first, and from the node where no other pod has it; the record goes last. */
  async #unmount(record: PublishRecord, limits: CallLimits): Promise<void> {
    try {
      const { connection } = this.#registered(record)
      const request = { volumeId: record.handle, targetPath: podMount(record.directory) }
      await connection.call(nodeMethods.unpublishVolume, request, limits)
      await this.#unstage(record, connection, limits)
      await removeRecord(record.directory, podMount(record.directory))
    } catch (error) {
      throw new Error(`UnmountVolume.TearDown failed for volume "${record.name}" : ${messageOf(error)}`)
    }
    if (record.attachmentId === undefined) return
    await this.tellInUse().catch((error: unknown) =>
      this.#options.environment.logger.warn('a volume is not in use any more, which could not be told', { error }),
    )
  }

  async #unstage(record: PublishRecord, connection: DriverConnection, limits: CallLimits): Promise<void> {
    const { driver, handle } = record
    const directory = stageDirectory(this.#options, driver, handle)
    if (record.lifecycle === 'Ephemeral' || !(await hasRecord(directory))) return
    const others = (await allPublishes(this.#options)).filter(
      (other) => other.directory !== record.directory && keyOf(other) === keyOf(record),
    )
    if (others.length > 0) return
    const request = { volumeId: handle, stagingTargetPath: globalMount(directory) }
    await connection.call(nodeMethods.unstageVolume, request, limits)
    await removeRecord(directory, globalMount(directory))
  }
}

const keyOf = ({ driver, handle }: Pick<DriverVolume, 'driver' | 'handle'>): string => uniqueVolumeName(driver, handle)

const refused = (problem: string) => ({ problem, isWaiting: false })
