import {
  compareQuantity,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimStatus,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/**
 * Tells whoever wants a larger volume who has to make it so: nothing here does (upstream's expand controller, which knows of no volume
 * either that it could grow by itself). Pure.
 */
export function planExpansion(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): Plan<PersistentVolumeClaimStatus> {
  const isIts = volume?.spec?.claimRef?.uid === claim.metadata.uid
  if (!isIts || compareQuantity(requestOf(claim), capacityOf(claim)) <= 0) return { actions: [] }
  const message = 'waiting for an external controller to expand this PVC'
  return {
    actions: [{ type: 'event', eventType: 'Normal', reason: 'ExternalExpanding', message, because: message }],
  }
}

/** How much a claim asks for, and how much it has. */
export const requestOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? '0'
export const capacityOf = ({ status }: PersistentVolumeClaim): string => status?.capacity?.storage ?? '0'
