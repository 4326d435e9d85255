import { compareQuantity, type PersistentVolumeClaim, persistentVolumeClaims, persistentVolumes } from '@coracle/api'
import { type Change, type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { capacityOf, planExpansion, requestOf } from './plan.ts'

/** Says of claims that want larger volumes what they wait for. */
export function createVolumeExpansionController(): Controller {
  return controller('expand-controller', { component: 'volume_expand' })
    .for(persistentVolumeClaims, { predicates: [mayGrow] })
    .reads(persistentVolumes)
    .reconcile(async ({ object: claim }, context) => {
      if (claim === undefined) return undefined
      const volume = context.informer(persistentVolumes).get(claim.spec?.volumeName ?? '')
      return performPlan(context, claim, planExpansion(claim, volume))
    })
}

/** Whether a claim that is bound is new here, asks for more, or has more. */
function mayGrow(change: Change<PersistentVolumeClaim>): boolean {
  const { type, object } = change
  if (object.status?.phase !== 'Bound' || type === 'delete') return false
  if (type === 'add') return true
  const { old } = change
  return (
    compareQuantity(requestOf(object), requestOf(old)) > 0 || compareQuantity(capacityOf(object), capacityOf(old)) > 0
  )
}
