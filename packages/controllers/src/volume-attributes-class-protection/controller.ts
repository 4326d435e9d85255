import {
  attributesClassesOfClaim,
  type PersistentVolume,
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttributesClasses,
} from '@coracle/api'
import { type Controller, controller, type Lookup, performPlan } from '@coracle/controller-runtime'
import { planAttributesClassProtection } from './plan.ts'

const classIndexName = 'attributes class'

const classesOfVolume = ({ spec }: PersistentVolume): readonly string[] =>
  spec?.volumeAttributesClassName ? [spec.volumeAttributesClassName] : []

/** Keeps classes of volume attributes that are to be deleted while claims and volumes name them. */
export function createAttributesClassProtectionController(): Controller {
  return controller('volumeattributesclass-protection-controller')
    .for(volumeAttributesClasses)
    .watches(persistentVolumeClaims, attributesClassesOfClaim, {
      indexes: { [classIndexName]: attributesClassesOfClaim },
    })
    .watches(persistentVolumes, classesOfVolume, { indexes: { [classIndexName]: classesOfVolume } })
    .reconcile(async ({ object, name }, context) => {
      return object && performPlan(context, object, planAttributesClassProtection(object, isNamed(name, context)))
    })
}

const isNamed = (name: string, { informer }: Lookup): boolean =>
  [informer(persistentVolumes), informer(persistentVolumeClaims)].some(
    (cache) => cache.byIndex(classIndexName, name).length > 0,
  )
