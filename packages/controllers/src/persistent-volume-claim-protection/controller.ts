import { persistentVolumeClaims, pods } from '@coracle/api'
import { type Controller, controller, isBeingDeleted, performPlan } from '@coracle/controller-runtime'
import { claimIndexName, podsByClaim } from '../pods/by-claim.ts'
import { planClaimProtection } from './plan.ts'

/** Keeps claims that are to be deleted while pods use them. */
export function createClaimProtectionController(): Controller {
  return controller('pvc-protection-controller')
    .for(persistentVolumeClaims)
    .watches(pods, podsByClaim, { indexes: { [claimIndexName]: podsByClaim } })
    .reconcile(async ({ key, object: claim, namespace = '' }, context) => {
      if (claim === undefined) return undefined
      const plan = planClaimProtection(claim, context.informer(pods).byIndex(claimIndexName, key))
      if (!isBeingDeleted(claim) || plan.actions.length === 0) return performPlan(context, claim, plan)
      // The cache may not know of a pod yet; what is irreversible is done on the server's word.
      const { items } = await context.client.list(pods, { namespace })
      return performPlan(context, claim, planClaimProtection(claim, items))
    })
}
