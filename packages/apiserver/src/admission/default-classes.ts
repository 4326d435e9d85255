import {
  type Ingress,
  ingressClassAnnotation,
  ingressClasses,
  ingresses,
  isDefaultIngressClass,
  isDefaultStorageClass,
  newestOf,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  storageClasses,
  storageClassOfClaim,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { creates, storedObjects } from './stored-objects.ts'

/** Claims that say nothing about a class get the default one. An empty class is an answer: none. */
export function defaultStorageClass(registries: Registries): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    concerns: (target) => creates(target, persistentVolumeClaims),
    mutate(_attributes, object) {
      const claim = object as PersistentVolumeClaim
      if (storageClassOfClaim(claim) !== undefined) return object
      const found = newestOf(storedObjects(registries, storageClasses).filter(isDefaultStorageClass))
      if (found === undefined) return object
      return { ...claim, spec: { ...claim.spec, storageClassName: found.metadata.name } } as PersistentVolumeClaim
    },
  }
}

/** Ingresses that name no class, by field or by annotation, get the default one. */
export function defaultIngressClass(registries: Registries): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    concerns: (target) => creates(target, ingresses),
    mutate(_attributes, object) {
      const ingress = object as Ingress
      const { metadata, spec } = ingress
      if (spec?.ingressClassName !== undefined || metadata.annotations?.[ingressClassAnnotation] !== undefined) {
        return object
      }
      const found = newestOf(storedObjects(registries, ingressClasses).filter(isDefaultIngressClass))
      if (found === undefined) return object
      return { ...ingress, spec: { ...spec, ingressClassName: found.metadata.name } } as Ingress
    },
  }
}
