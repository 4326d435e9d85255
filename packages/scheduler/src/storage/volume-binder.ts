import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  volumeAnnotations,
  volumeNodeMatcher,
} from '@coracle/api'
import { type Client, keyText } from '@coracle/client'
import type { Clock } from '@coracle/environment'
import { naming } from '../framework.ts'
import type { NodeInfo } from '../node-info.ts'
import { schedulingCause } from '../scheduling-cause.ts'
import { isBound, type PodVolumes, podClaims, podVolumesOn } from './pod-volumes.ts'
import type { StorageCache } from './storage-cache.ts'

/** How long a pod may wait for its volumes to be made and bound before it is scheduled anew (upstream's bindTimeoutSeconds). */
export const volumeBindingMaxMs = 600_000

/** What was set aside for a pod. */
interface Reservation {
  readonly nodeName: string
  readonly volumes: readonly ReservedVolume[]
  readonly provisions: readonly PersistentVolumeClaim[]
  /** Ends the wait for the volumes, where that is under way. */
  giveUp: ((why: Error) => void) | undefined
}

interface ReservedVolume {
  readonly claim: PersistentVolumeClaim
  /** The volume as it will be. */
  readonly assumed: PersistentVolume
  /** Nobody had kept it for the claim. */
  readonly isChosenHere: boolean
}

/** Gets pods the volumes that were found for them: sets them aside, says so to the API, and waits until they are bound. */
export class VolumeBinder {
  readonly #client: Client
  readonly #clock: Clock
  readonly #storage: StorageCache
  /** By uid of the pod. */
  readonly #reservations = new Map<string, Reservation>()
  /** What looks whether a wait is over. */
  readonly #waits = new Set<() => void>()

  constructor(client: Client, clock: Clock, storage: StorageCache) {
    this.#client = client
    this.#clock = clock
    this.#storage = storage
  }

  /** Sets aside what the pod gets on the node. A sentence says why that is not to be had any more. */
  reserve(pod: Pod, node: NodeInfo): string | undefined {
    const claims = podClaims(pod, this.#storage)
    if (claims === undefined) return undefined
    if (typeof claims === 'string') return claims
    const volumes = podVolumesOn(node.node, claims, this.#storage)
    if ('reasons' in volumes) return volumes.reasons.join(', ')
    if (volumes.bindings.length + volumes.provisions.length > 0) {
      this.#reservations.set(pod.metadata.uid ?? '', this.#assume(volumes, node.name))
    }
    return undefined
  }

  unreserve(pod: Pod): void {
    const { uid = '' } = pod.metadata
    const reservation = this.#reservations.get(uid)
    if (reservation === undefined) return
    this.#reservations.delete(uid)
    for (const { assumed } of reservation.volumes) this.#storage.restore(assumed)
    for (const assumed of reservation.provisions) this.#storage.restore(assumed)
  }

  /** Has the claims bound, and their volumes made; undefined where there is nothing to do. Rejects where that fails or takes too long. */
  bind(pod: Pod, node: NodeInfo): Promise<void> | undefined {
    const reservation = this.#reservations.get(pod.metadata.uid ?? '')
    return reservation === undefined ? undefined : this.#bind(pod, node, reservation)
  }

  /** Nothing is waited for any more on behalf of the pod. */
  podGone(uid: string): void {
    this.#reservations.get(uid)?.giveUp?.(new Error('pod does not exist any more'))
  }

  /** A claim or a volume has changed. */
  changed(): void {
    for (const look of this.#waits) look()
  }

  stop(): void {
    for (const { giveUp } of this.#reservations.values()) giveUp?.(new Error('the scheduler is stopped'))
  }

  #assume({ bindings, provisions }: PodVolumes, nodeName: string): Reservation {
    return {
      nodeName,
      volumes: bindings.map(({ volume, claim }) => ({
        claim,
        assumed: this.#storage.assumeClaimed(volume, claim),
        isChosenHere: volume.spec?.claimRef === undefined,
      })),
      provisions: provisions.map((claim) => this.#storage.assumeSelected(claim, nodeName)),
      giveUp: undefined,
    }
  }

  async #bind(pod: Pod, node: NodeInfo, reservation: Reservation): Promise<void> {
    await this.#write(pod, reservation)
    await this.#untilBound(node, reservation)
    // The API says now what was assumed.
    this.unreserve(pod)
  }

  async #write(pod: Pod, { volumes, provisions, nodeName }: Reservation): Promise<void> {
    const because = `pod ${pod.metadata.namespace}/${pod.metadata.name} is to run on ${nodeName}`
    const cause = schedulingCause(pod.spec.schedulerName ?? 'default-scheduler', pod, because)
    for (const { assumed, isChosenHere } of volumes) {
      const { name = '', uid, resourceVersion } = assumed.metadata
      const annotations = isChosenHere ? { [volumeAnnotations.boundByController]: 'yes' } : {}
      const body = { metadata: { uid, resourceVersion, annotations }, spec: { claimRef: assumed.spec?.claimRef } }
      await this.#client.patch(persistentVolumes, { name }, { type: 'merge', body }, cause)
    }
    for (const { metadata } of provisions) {
      const { namespace = '', name = '', uid, resourceVersion } = metadata
      const annotations = { [volumeAnnotations.selectedNode]: nodeName }
      const body = { metadata: { uid, resourceVersion, annotations } }
      await this.#client.patch(persistentVolumeClaims, { namespace, name }, { type: 'merge', body }, cause)
    }
  }

  async #untilBound(node: NodeInfo, reservation: Reservation): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      try {
        if (this.#areBound(node, reservation)) resolve()
      } catch (error) {
        reject(error)
      }
    }
    const timer = this.#clock.setTimer(volumeBindingMaxMs, () => {
      reject(new Error('timed out waiting for the condition'))
    })
    reservation.giveUp = reject
    this.#waits.add(look)
    look()
    try {
      await naming('binding volumes', promise)
    } finally {
      timer.cancel()
      reservation.giveUp = undefined
      this.#waits.delete(look)
    }
  }

  /** Throws where they will not be bound as it was decided. */
  #areBound(node: NodeInfo, { volumes, provisions, nodeName }: Reservation): boolean {
    for (const { assumed } of volumes) {
      const { name = '' } = assumed.metadata
      const volume = this.#storage.volume(name)
      if (volume === undefined)
        throw new Error(`failed to check binding: persistentvolumes ${JSON.stringify(name)} not found`)
      if (!volume.spec?.claimRef?.uid) throw new Error(`ClaimRef got reset for pv ${JSON.stringify(name)}`)
    }
    const claims = volumes.map(({ claim }) => this.#claimNow(claim, 'failed to check binding'))
    for (const provision of provisions) {
      const claim = this.#claimNow(provision, 'failed to check provisioning pvc')
      const { name, annotations } = claim.metadata
      if (annotations === undefined) throw new Error(`selectedNode annotation reset for PVC ${JSON.stringify(name)}`)
      // That is how a provisioner says that it gives up.
      if (annotations[volumeAnnotations.selectedNode] !== nodeName)
        throw new Error(`provisioning failed for PVC ${JSON.stringify(name)}`)
      claims.push(claim)
    }
    return claims.every((claim) => {
      const volume = isBound(claim) ? this.#storage.volume(claim.spec?.volumeName ?? '') : undefined
      if (volume === undefined) return false
      if (volumeNodeMatcher(volume)?.(node.node) !== false) return true
      const name = JSON.stringify(volume.metadata.name)
      throw new Error(
        `pv ${name} node affinity doesn't match node ${JSON.stringify(nodeName)}: no matching NodeSelectorTerms`,
      )
    })
  }

  #claimNow({ metadata: { namespace, name = '', uid } }: PersistentVolumeClaim, what: string): PersistentVolumeClaim {
    const claim = this.#storage.claim(namespace, name)
    if (claim !== undefined && claim.metadata.uid === uid) return claim
    throw new Error(`${what}: persistentvolumeclaims ${JSON.stringify(keyText(namespace, name))} not found`)
  }
}
