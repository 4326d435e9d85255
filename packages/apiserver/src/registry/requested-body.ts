import type { FieldOwners, KubernetesObject, ObjectMeta } from '@coracle/api'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import { type DecodedBody, decodeBody } from './body.ts'
import { takeManagedFields } from './field-ownership.ts'
import { duplicateOwnersWarning, withDistinctOwners } from './owner-references.ts'
import type { RegistryParts } from './registry-parts.ts'
import { schemeOf } from './schemes.ts'

/** What a request has for an object, in the form that is stored. */
export interface RequestedBody extends DecodedBody {
  /** The same in the version of the request. */
  readonly requested: KubernetesObject
  /** What the client wrote there. */
  readonly managedFields: ObjectMeta['managedFields']
  /** Who owns what, where the request knows, as an apply does. */
  readonly owners?: FieldOwners
}

/** The body of a creation or an update with each owner once, and a warning of those that were there again. */
export function withOwnersOnce(body: RequestedBody): RequestedBody {
  const { object, duplicates } = withDistinctOwners(body.object)
  if (duplicates.length === 0) return body
  const { object: requested } = withDistinctOwners(body.requested)
  return { ...body, object, requested, warnings: [...body.warnings, duplicateOwnersWarning(duplicates, 'as-given')] }
}

/** A body in the form that is stored, with this version's defaults and the hub's. */
export function decodeRequested(
  { registries, view, environment }: RegistryParts,
  body: unknown,
  { fieldValidation }: RegistryWriteOptions,
  known?: KubernetesObject,
  keepsNulls = false,
): RequestedBody | Promise<RequestedBody> {
  // Of custom kinds, and those of another scheme, upstream knows nothing where it reads what it has a type for.
  const scheme = schemeOf(view.definition.group)
  const knowsKind = (apiVersion: string, kind: string) => {
    const known = registries.byKind(apiVersion, kind)?.definition
    return known !== undefined && known.schema.dialect !== 'structural' && schemeOf(known.group) === scheme
  }
  const { clock } = environment
  const { definition } = view
  const decoded = decodeBody(body, { clock, definition, fieldValidation, knowsKind, known, keepsNulls })
  return decoded instanceof Promise ? decoded.then((each) => toHub(view, each)) : toHub(view, decoded)
}

function toHub(
  view: RegistryParts['view'],
  { object: decoded, warnings, valuesCount, wrongKind }: DecodedBody,
): RequestedBody | Promise<RequestedBody> {
  const { object: requested, managedFields } = takeManagedFields(decoded)
  const bodyOf = (object: KubernetesObject) => {
    return { object, requested, managedFields, warnings, valuesCount, wrongKind }
  }
  const hub = view.toHub(requested)
  return hub instanceof Promise ? hub.then(bodyOf) : bodyOf(hub)
}
