import { protectionFinalizers, type VolumeAttributesClass, volumeAttributesClasses } from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

const { attributesClass: finalizer } = protectionFinalizers

/**
 * Has every class of volume attributes wait for the claims and volumes that name it, and lets one go once none does (upstream:
 * pkg/controller/volume/vacprotection). Pure.
 */
export function planAttributesClassProtection(attributesClass: VolumeAttributesClass, isNamed: boolean): Plan<never> {
  const { name = '', finalizers = [] } = attributesClass.metadata
  const isProtected = hasFinalizer(attributesClass, finalizer)
  const change = (wanted: readonly string[], because: string): Plan<never> => ({
    actions: [
      {
        type: 'patch',
        resource: volumeAttributesClasses,
        key: { name },
        patch: finalizersPatch(attributesClass, wanted),
        because,
      },
    ],
  })
  if (!isBeingDeleted(attributesClass)) {
    return isProtected ? { actions: [] } : change([...finalizers, finalizer], 'claims and volumes may name the class')
  }
  if (!isProtected || isNamed) return { actions: [] }
  return change(
    finalizers.filter((each) => each !== finalizer),
    'no claim or volume names the class',
  )
}
