import {
  formatTime,
  hasReason,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
} from '@coracle/api'
import { type IndexFunction, keyOf, keyText } from '@coracle/client'
import {
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import { volumeEventComponent } from '../persistent-volume-binder/controller.ts'
import { isReleased, planVolume } from './plan.ts'

const claimIndexName = 'claim'

/** Says of volumes where they are in their life, and lets those go whose claim has another. */
export function createVolumePhaseController(): Controller {
  return controller('persistent-volume-phase', { component: volumeEventComponent })
    .for(persistentVolumes, { indexes: { [claimIndexName]: byClaim } })
    .watches(persistentVolumeClaims, volumesOfClaim)
    .reconcile(async ({ object: volume }, context) => {
      if (volume === undefined) return undefined
      const claim = await claimOf(volume, context)
      return performPlan(context, volume, planVolume(volume, claim, formatTime(context.clock.now())))
    })
}

const claimKeyOf = ({ spec }: PersistentVolume): string | undefined =>
  spec?.claimRef === undefined ? undefined : keyText(spec.claimRef.namespace, spec.claimRef.name ?? '')

const byClaim: IndexFunction<PersistentVolume> = (volume) => {
  const key = claimKeyOf(volume)
  return key === undefined ? [] : [key]
}

function volumesOfClaim(claim: PersistentVolumeClaim, lookup: Lookup): readonly string[] {
  const volumes = lookup.informer(persistentVolumes).byIndex(claimIndexName, keyOf(claim))
  return volumes.flatMap(({ metadata }) => metadata.name ?? [])
}

/**
 * The claim that the volume's reference means. What the cache does not show is asked for: a volume is not given up because the
 * claim it was just made for is not in the cache yet.
 */
async function claimOf(
  volume: PersistentVolume,
  context: ReconcileContext<PersistentVolume>,
): Promise<PersistentVolumeClaim | undefined> {
  const { claimRef } = volume.spec ?? {}
  const key = claimKeyOf(volume)
  if (key === undefined || !claimRef?.uid) return undefined
  const isMeant = (claim: PersistentVolumeClaim | undefined) => claim?.metadata.uid === claimRef.uid
  const cached = context.informer(persistentVolumeClaims).get(key)
  if (isMeant(cached) || isReleased(volume)) return isMeant(cached) ? cached : undefined
  try {
    const { namespace, name = '' } = claimRef
    const live = await context.client.get(
      persistentVolumeClaims,
      namespace === undefined ? { name } : { namespace, name },
    )
    return isMeant(live) ? live : undefined
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
