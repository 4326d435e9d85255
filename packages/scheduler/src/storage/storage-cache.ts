import {
  type CsiDriver,
  type CsiNode,
  type CsiStorageCapacity,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  type KubernetesObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  type StorageClass,
  storageClasses,
  storageClassOfVolume,
  type VolumeAttachment,
  volumeAnnotations,
  volumeAttachments,
} from '@coracle/api'
import { type Client, createInformer, type IndexFunction, type Informer, keyOf, keyText } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { ClusterEvent } from '../cluster-event.ts'
import type { Storage } from './storage.ts'

const unboundIndexName = 'unbound'
const classIndexName = 'class'
const nodeIndexName = 'node'

/** Volumes whose claim has taken them are in nobody's way. */
const byUnboundClass: IndexFunction<PersistentVolume> = (volume) => {
  const isTaken = volume.spec?.claimRef !== undefined && volume.status?.phase === 'Bound'
  return isTaken ? [] : [storageClassOfVolume(volume)]
}

const byClass: IndexFunction<CsiStorageCapacity> = ({ storageClassName }) => [storageClassName]

const byNode: IndexFunction<VolumeAttachment> = ({ spec }) => [spec.nodeName]

/** Follows the API, and keeps what is assumed beside it: an assumption ends as soon as the API shows a newer state of the object. */
export class StorageCache implements Storage {
  readonly #claims: Informer<PersistentVolumeClaim>
  readonly #volumes: Informer<PersistentVolume>
  readonly #classes: Informer<StorageClass>
  readonly #csiNodes: Informer<CsiNode>
  readonly #csiDrivers: Informer<CsiDriver>
  readonly #attachments: Informer<VolumeAttachment>
  readonly #capacities: Informer<CsiStorageCapacity>
  readonly #assumedClaims: Assumptions<PersistentVolumeClaim>
  readonly #assumedVolumes: Assumptions<PersistentVolume>
  readonly #onEvent: (event: ClusterEvent) => void

  /** `onEvent` is told of every change that may help a pod. */
  constructor(client: Client, environment: Environment, onEvent: (event: ClusterEvent) => void) {
    const follow = <T extends KubernetesObject>(
      resource: Resource<T>,
      indexes: Record<string, IndexFunction<T>> = {},
    ) => createInformer(client, resource, { indexes }, environment)
    this.#claims = follow(persistentVolumeClaims)
    this.#volumes = follow(persistentVolumes, { [unboundIndexName]: byUnboundClass })
    this.#classes = follow(storageClasses)
    this.#csiNodes = follow(csiNodes)
    this.#csiDrivers = follow(csiDrivers)
    this.#attachments = follow(volumeAttachments, { [nodeIndexName]: byNode })
    this.#capacities = follow(csiStorageCapacities, { [classIndexName]: byClass })
    this.#assumedClaims = new Assumptions(this.#claims)
    this.#assumedVolumes = new Assumptions(this.#volumes)
    this.#onEvent = onEvent
  }

  /** Resolves when all that there is has been seen. */
  async start(): Promise<void> {
    this.#listen(this.#claims, (claim) => ({ type: 'claim-changed', claim }))
    this.#listen(this.#volumes, (volume) => ({ type: 'volume-changed', volume }))
    this.#listen(this.#classes, (storageClass) => ({ type: 'storage-class-changed', storageClass }))
    this.#listen(this.#csiNodes, ({ metadata: { name = '' } }) => ({ type: 'csi-node-changed', nodeName: name }))
    this.#attachments.addHandler({
      delete: ({ spec: { nodeName } }) => this.#onEvent({ type: 'volume-detached', nodeName }),
    })
    this.#listen(this.#csiDrivers, () => ({ type: 'storage-capacity-changed' }))
    this.#listen(this.#capacities, () => ({ type: 'storage-capacity-changed' }))
    for (const informer of this.#informers) informer.start()
    await Promise.all(this.#informers.map((informer) => informer.waitForSync()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()))
  }

  claim(namespace: string | undefined, name: string): PersistentVolumeClaim | undefined {
    return this.#assumedClaims.get(keyText(namespace, name))
  }

  volume(name: string): PersistentVolume | undefined {
    return this.#assumedVolumes.get(name)
  }

  storageClass(name: string): StorageClass | undefined {
    return this.#classes.get(name)
  }

  unboundVolumes(className: string): readonly PersistentVolume[] {
    const volumes = this.#volumes.byIndex(unboundIndexName, className)
    return this.#assumedVolumes.isEmpty ? volumes : volumes.map((each) => this.#assumedVolumes.get(keyOf(each)) ?? each)
  }

  csiNode(name: string): CsiNode | undefined {
    return this.#csiNodes.get(name)
  }

  attachments(nodeName: string): readonly VolumeAttachment[] {
    return this.#attachments.byIndex(nodeIndexName, nodeName)
  }

  csiDriver(name: string): CsiDriver | undefined {
    return this.#csiDrivers.get(name)
  }

  capacities(className: string): readonly CsiStorageCapacity[] {
    return this.#capacities.byIndex(classIndexName, className)
  }

  /** The volume is kept for the claim from now on. Returns what it is assumed to be. */
  assumeClaimed(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
    const { namespace, name, uid, resourceVersion } = claim.metadata
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion }
    return this.#assumedVolumes.set({ ...volume, spec: { ...volume.spec, claimRef } })
  }

  /** The volume of the claim is to be made for this node. */
  assumeSelected(claim: PersistentVolumeClaim, nodeName: string): PersistentVolumeClaim {
    const annotations = { ...claim.metadata.annotations, [volumeAnnotations.selectedNode]: nodeName }
    return this.#assumedClaims.set({ ...claim, metadata: { ...claim.metadata, annotations } })
  }

  /** What was assumed of the object is taken back, if it is still that. */
  restore(object: PersistentVolume | PersistentVolumeClaim): void {
    if (object.kind === persistentVolumes.kind) this.#assumedVolumes.delete(object)
    else this.#assumedClaims.delete(object)
  }

  get #informers(): readonly Informer<never>[] {
    const all = [
      this.#claims,
      this.#volumes,
      this.#classes,
      this.#csiNodes,
      this.#csiDrivers,
      this.#attachments,
      this.#capacities,
    ]
    return all as unknown as readonly Informer<never>[]
  }

  #listen<T extends KubernetesObject>(informer: Informer<T>, eventOf: (object: T) => ClusterEvent): void {
    informer.addHandler({
      add: (object) => this.#onEvent(eventOf(object)),
      update: (_, object) => this.#onEvent(eventOf(object)),
      delete: (object) => this.#onEvent(eventOf(object)),
    })
  }
}

/** Objects as they will be, each as long as the API shows the version that was assumed to change. */
class Assumptions<T extends KubernetesObject> {
  readonly #informer: Informer<T>
  readonly #assumed = new Map<string, T>()

  constructor(informer: Informer<T>) {
    this.#informer = informer
  }

  get isEmpty(): boolean {
    return this.#assumed.size === 0
  }

  get(key: string): T | undefined {
    const shown = this.#informer.get(key)
    const assumed = this.#assumed.get(key)
    if (assumed === undefined) return shown
    if (shown?.metadata.resourceVersion === assumed.metadata.resourceVersion) return assumed
    this.#assumed.delete(key)
    return shown
  }

  set(object: T): T {
    this.#assumed.set(keyOf(object), object)
    return object
  }

  delete(object: KubernetesObject): void {
    const key = keyOf(object)
    const { uid } = this.#assumed.get(key)?.metadata ?? {}
    if (uid === object.metadata.uid) this.#assumed.delete(key)
  }
}
