import {
  formatTime,
  isDefaultStorageClass,
  newestOf,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageClasses,
  storageClassOfClaim,
  storageClassOfVolume,
  volumeAnnotations,
} from '@coracle/api'
import { BoundedMap, type IndexFunction, keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import { claimIndexName, podsByClaim } from '../pods/by-claim.ts'
import type { ObservedClaim } from './plan.ts'

/** Volumes that are remembered as chosen until the cache shows whose they are. */
export const takenVolumesMax = 10_000

/** The name that events of volumes and claims are reported under. */
export const volumeEventComponent = 'persistentvolume-controller'

/** Gets claims their volumes: one that is there, or one that the provisioner of their class is told to make. */
export function createVolumeBinder(): Controller {
  /** The version of each volume in which it was chosen: in no other is it taken. */
  const taken = new BoundedMap<string, string>(takenVolumesMax)
  return controller('persistent-volume-binder', { component: volumeEventComponent })
    .for(persistentVolumeClaims, { indexes: { [waitingIndexName]: byClassWaitedFor, [namedIndexName]: byNamedVolume } })
    .watches(persistentVolumes, claimsOfVolume, { indexes: { [candidateIndexName]: byCandidacy } })
    .watches(storageClasses, claimsOfClass)
    .watches(pods, podsByClaim, { indexes: { [claimIndexName]: podsByClaim }, predicates: [waitsForNode] })
    .reconcile(async ({ object: claim }, context) => {
      if (claim === undefined) return undefined
      // Many clusters have none. Where time is virtual it stands still meanwhile.
      const { planClaim, takenVolume } = await context.clock.hold(import('./plan.ts'))
      const plan = planClaim(observe(claim, taken, context), formatTime(context.clock.now()))
      const name = takenVolume(plan)
      if (name === undefined) return performPlan(context, claim, plan)
      taken.set(name, versionOf(name, context))
      try {
        return await performPlan(context, claim, plan)
      } catch (error) {
        // Whatever of it has been done shows in another version of the volume, and that is not taken.
        taken.set(name, '')
        throw error
      }
    })
}

function observe(
  claim: PersistentVolumeClaim,
  taken: BoundedMap<string, string>,
  context: ReconcileContext<PersistentVolumeClaim>,
): ObservedClaim {
  const volumes = context.informer(persistentVolumes)
  const classes = context.informer(storageClasses)
  const className = storageClassOfClaim(claim)
  const { volumeName } = claim.spec ?? {}
  return {
    claim,
    named: volumeName ? volumes.get(volumeName) : undefined,
    get candidates() {
      const kept = volumes.byIndex(candidateIndexName, keptFor(keyOf(claim)))
      return [...kept, ...volumes.byIndex(candidateIndexName, freeOf(className ?? ''))]
    },
    isTaken: (name) => taken.get(name) === versionOf(name, context),
    storageClass: className ? classes.get(className) : undefined,
    get defaultClass() {
      return newestOf(classes.list().filter(isDefaultStorageClass))
    },
    get unscheduledPods() {
      const users = context.informer(pods).byIndex(claimIndexName, keyOf(claim))
      return users.filter(hasNoNode).flatMap(({ metadata }) => metadata.name ?? [])
    },
  }
}

const versionOf = (name: string, lookup: Lookup): string =>
  lookup.informer(persistentVolumes).get(name)?.metadata.resourceVersion ?? ''

const hasNoNode = ({ spec, status }: Pod): boolean =>
  !spec.nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

/** Others tell nothing new of the claims they use. */
const waitsForNode = (change: Change<Pod>): boolean => change.type !== 'delete' && hasNoNode(change.object)

// --- Which volumes a claim may get -----------------------------------------------------------------------------------

const candidateIndexName = 'candidate'
const keptFor = (claimKey: string): string => `claim ${claimKey}`
const freeOf = (className: string): string => `class ${className}`

/** Files volumes under the claim that has them, or under their class while nobody does. */
const byCandidacy: IndexFunction<PersistentVolume> = (volume) => {
  const { claimRef } = volume.spec ?? {}
  if (claimRef !== undefined) return [keptFor(keyText(claimRef.namespace, claimRef.name ?? ''))]
  return volume.status?.phase === 'Available' ? [freeOf(storageClassOfVolume(volume))] : []
}

// --- Which claims a change may help ----------------------------------------------------------------------------------

const waitingIndexName = 'class waited for'
const namedIndexName = 'named volume'

/** No class is called so. */
const noClassNamed = '*'

const isBound = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[volumeAnnotations.bindCompleted] !== undefined

/** Files claims that take any volume under the class of which they want one. */
const byClassWaitedFor: IndexFunction<PersistentVolumeClaim> = (claim) =>
  isBound(claim) || claim.spec?.volumeName ? [] : [storageClassOfClaim(claim) ?? noClassNamed]

const byNamedVolume: IndexFunction<PersistentVolumeClaim> = ({ spec }) => (spec?.volumeName ? [spec.volumeName] : [])

function claimsOfVolume(volume: PersistentVolume, lookup: Lookup): readonly string[] {
  const claims = lookup.informer(persistentVolumeClaims)
  const naming = claims.byIndex(namedIndexName, volume.metadata.name ?? '').map(keyOf)
  const { claimRef } = volume.spec ?? {}
  if (claimRef !== undefined) return [...naming, keyText(claimRef.namespace, claimRef.name ?? '')]
  if (volume.status?.phase !== 'Available') return naming
  const className = storageClassOfVolume(volume)
  const unnamed = className === '' ? claims.byIndex(waitingIndexName, noClassNamed) : []
  return [...naming, ...[...claims.byIndex(waitingIndexName, className), ...unnamed].map(keyOf)]
}

function claimsOfClass(storageClass: StorageClass, lookup: Lookup): readonly string[] {
  const claims = lookup.informer(persistentVolumeClaims)
  const unnamed = isDefaultStorageClass(storageClass) ? claims.byIndex(waitingIndexName, noClassNamed) : []
  return [...claims.byIndex(waitingIndexName, storageClass.metadata.name ?? ''), ...unnamed].map(keyOf)
}
