import {
  compareQuantity,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  storageClasses,
  storageClassOfClaim,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { storedObject, updates } from './stored-objects.ts'

/** Claims may ask for more only when they are bound, and where their class says that volumes can grow. */
export function persistentVolumeClaimResize(registries: Registries): AdmissionPlugin {
  const mayGrow = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean => {
    const name = storageClassOfClaim(claim)
    if (!name || name !== storageClassOfClaim(old)) return false
    return storedObject(registries, storageClasses, name)?.allowVolumeExpansion === true
  }
  return {
    name: 'PersistentVolumeClaimResize',
    concerns: (target) => updates(target, persistentVolumeClaims),
    validate(attributes, object) {
      const [claim, old] = [object as PersistentVolumeClaim, attributes.old as PersistentVolumeClaim]
      if (compareQuantity(sizeOf(claim), sizeOf(old)) <= 0) return
      if (old.status?.phase !== 'Bound') {
        throw forbiddenByAdmission(attributes, object, 'Only bound persistent volume claims can be expanded')
      }
      if (mayGrow(claim, old)) return
      const why =
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
      throw forbiddenByAdmission(attributes, object, why)
    },
  }
}

const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? '0'
