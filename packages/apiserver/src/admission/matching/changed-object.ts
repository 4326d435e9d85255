import { deepEqual, type KubernetesObject, managedFieldsOf, type ResourceDefinition } from '@coracle/api'
import type { HeldClock } from '../../go-types.ts'
import { decodeBody } from '../../registry/body.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { fromVersion } from './versioned-objects.ts'

/**
 * The object of a request, in the form of its attributes, when somebody who was shown `sent` of a version has made `body` of it;
 * undefined where that changes nothing. Throws where it is no object of the kind; with `Strict` also where it has fields that the kind
 * has not.
 */
export async function changedObject(
  clock: HeldClock,
  { kind, definition, owners }: AdmissionAttributes,
  version: ResourceDefinition,
  sent: KubernetesObject,
  body: unknown,
  fieldValidation: 'Ignore' | 'Strict' = 'Ignore',
): Promise<KubernetesObject | undefined> {
  const isWhole = kind === definition
  const { object } = await decodeBody(body, { clock, definition: isWhole ? version : kind, fieldValidation })
  if (deepEqual(object, sent)) return undefined
  const { managedFields = [], ...others } = object.metadata
  // Owners that are those of the request need not be looked at again. What somebody has made of them stays, none at all included.
  const isAsRequested = deepEqual(managedFields, managedFieldsOf(owners?.() ?? []))
  const own = { ...object, metadata: isAsRequested ? others : { ...others, managedFields } }
  return isWhole ? fromVersion(definition, version, own) : own
}
