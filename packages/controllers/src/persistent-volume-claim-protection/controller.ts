import { type Pod, persistentVolumeClaims, pods } from '@coracle/api'
import { type IndexFunction, keyText } from '@coracle/client'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { claimsOf, planClaimProtection } from './plan.ts'

const claimIndexName = 'claim'

/** The claims that a pod uses, by their keys. */
const byClaim: IndexFunction<Pod> = (pod) => claimsOf(pod).map((name) => keyText(pod.metadata.namespace, name))

/** Keeps claims that are to be deleted while pods use them. */
export function createClaimProtectionController(): Controller {
  return controller('pvc-protection-controller')
    .for(persistentVolumeClaims)
    .watches(pods, byClaim, { indexes: { [claimIndexName]: byClaim } })
    .reconcile(async ({ key, object: claim }, context) => {
      if (claim === undefined) return undefined
      return performPlan(
        context,
        claim,
        planClaimProtection(claim, context.informer(pods).byIndex(claimIndexName, key)),
      )
    })
}
