import { claimsOfPod, type Pod, type Volume } from '@coracle/api'
import { keyText } from '@coracle/client'
import type { Cluster } from '../cluster.ts'
import type { NodeIndex } from '../node-indexes.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Storage } from '../storage/storage.ts'
import type { ClusterPlugin, Refusal } from './plugin.ts'

const refusal = (reason: string): Refusal => ({ reasons: [reason], isHelpedByEviction: true })
const diskConflict = refusal('node(s) had no available disk')
const podConflict = refusal(
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
)

/**
 * Some volumes are for one at a time: claims of the mode ReadWriteOncePod for one pod of the cluster (https://kep.k8s.io/2485), and
 * disks that pods name themselves for one pod of a node.
 */
export function volumeRestrictions(storage: Storage): ClusterPlugin {
  return {
    name: 'VolumeRestrictions',
    scope: 'cluster',
    signature: (pod) => [pod.metadata.namespace, exclusiveClaims(pod, storage), disksOf(pod)],
    filter(pod, cluster) {
      const disks = disksOf(pod)
      const exclusive = exclusiveClaims(pod, storage)
      if (exclusive.length + disks.length === 0) return undefined
      const claims = new Set(exclusive)
      const users = claims.size === 0 ? undefined : claimUsersIn(cluster)
      let conflicts = users === undefined ? 0 : [...claims].reduce((sum, claim) => sum + users.count(claim), 0)
      const adjust = (other: Pod, sign: 1 | -1) => {
        conflicts += sign * claimKeysOf(other).filter((claim) => claims.has(claim)).length
      }
      return {
        refuse({ pods }) {
          if (disks.length > 0 && hasConflictingDisk(disks, pods.values())) return diskConflict
          return conflicts > 0 ? podConflict : undefined
        },
        add: (other) => adjust(other, 1),
        remove: (other) => adjust(other, -1),
      }
    },
    isHelpedBy(pod, event) {
      if (event.type === 'claim-changed')
        return claimKeysOf(pod).includes(keyText(event.claim.metadata.namespace, event.claim.metadata.name ?? ''))
      if (event.type !== 'pod-removed') return false
      const claims = new Set(exclusiveClaims(pod, storage))
      return claims.size > 0 && claimKeysOf(event.pod).some((claim) => claims.has(claim))
    },
  }
}

const claimKeysOf = (pod: Pod): readonly string[] =>
  claimsOfPod(pod).map((name) => keyText(pod.metadata.namespace, name))

/** The claims of a pod that only one pod may use, by their keys. */
function exclusiveClaims(pod: Pod, storage: Storage): readonly string[] {
  const isExclusive = (name: string): boolean =>
    storage.claim(pod.metadata.namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod') === true
  return claimsOfPod(pod)
    .filter(isExclusive)
    .map((name) => keyText(pod.metadata.namespace, name))
}

const claimUsersIn = (cluster: Cluster): ClaimUsers =>
  cluster.index('VolumeRestrictions claims', () => new ClaimUsers())

/** How many pods that have a node use each claim. */
class ClaimUsers implements NodeIndex {
  readonly #byNode = new Map<string, readonly string[]>()
  readonly #counts = new Map<string, number>()

  count(claim: string): number {
    return this.#counts.get(claim) ?? 0
  }

  put(node: NodeInfo): void {
    this.remove(node.name)
    if (node.podsWithClaims.size === 0) return
    const claims = [...node.podsWithClaims.values()].flatMap(claimKeysOf)
    this.#byNode.set(node.name, claims)
    for (const claim of claims) this.#counts.set(claim, this.count(claim) + 1)
  }

  remove(name: string): void {
    for (const claim of this.#byNode.get(name) ?? []) {
      const left = this.count(claim) - 1
      if (left > 0) this.#counts.set(claim, left)
      else this.#counts.delete(claim)
    }
    this.#byNode.delete(name)
  }
}

/** A disk that a pod names itself: what it is, and whether others that only read may use it beside. */
interface Disk {
  readonly id: string
  readonly isReadOnly: boolean
}

function disksOf({ spec }: Pod): readonly Disk[] {
  return (spec.volumes ?? []).flatMap(diskIn)
}

function diskIn({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): readonly Disk[] {
  if (gcePersistentDisk !== undefined) return [disk('gce', gcePersistentDisk.pdName, gcePersistentDisk.readOnly)]
  // A disk of AWS has one user, reading or not.
  if (awsElasticBlockStore !== undefined) return [disk('aws', awsElasticBlockStore.volumeID, false)]
  if (iscsi !== undefined) return [disk('iscsi', iscsi.iqn, iscsi.readOnly)]
  if (rbd === undefined) return []
  // An image that has any monitor in common is the same one.
  return (rbd.monitors ?? []).map((monitor) => disk('rbd', `${monitor} ${rbd.pool} ${rbd.image}`, rbd.readOnly))
}

const disk = (kind: string, name: string | undefined, isReadOnly: boolean | undefined): Disk => ({
  id: `${kind} ${name}`,
  isReadOnly: isReadOnly === true,
})

function hasConflictingDisk(disks: readonly Disk[], pods: Iterable<Pod>): boolean {
  for (const pod of pods) {
    for (const other of disksOf(pod)) {
      if (disks.some(({ id, isReadOnly }) => id === other.id && !(isReadOnly && other.isReadOnly))) return true
    }
  }
  return false
}
