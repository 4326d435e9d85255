import { persistentVolumes } from '@coracle/api'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { planVolumeProtection } from './plan.ts'

/** Keeps volumes that are to be deleted while claims have them. */
export function createVolumeProtectionController(): Controller {
  return controller('pv-protection-controller')
    .for(persistentVolumes)
    .reconcile(async ({ object: volume }, context) => {
      return volume === undefined ? undefined : performPlan(context, volume, planVolumeProtection(volume))
    })
}
