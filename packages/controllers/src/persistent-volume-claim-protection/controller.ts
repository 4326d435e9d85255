import { persistentVolumeClaims, pods } from '@coracle/api'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { claimIndexName, podsByClaim } from '../pods/by-claim.ts'
import { planClaimProtection } from './plan.ts'

/** Keeps claims that are to be deleted while pods use them. */
export function createClaimProtectionController(): Controller {
  return controller('pvc-protection-controller')
    .for(persistentVolumeClaims)
    .watches(pods, podsByClaim, { indexes: { [claimIndexName]: podsByClaim } })
    .reconcile(async ({ key, object: claim }, context) => {
      if (claim === undefined) return undefined
      return performPlan(
        context,
        claim,
        planClaimProtection(claim, context.informer(pods).byIndex(claimIndexName, key)),
      )
    })
}
