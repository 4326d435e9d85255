import {
  type DeviceClaim,
  deviceAdminNamespaceLabel,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalid,
  type Namespace,
  type ResourceClaim,
  type ResourceClaimTemplate,
  resourceClaims,
  resourceClaimTemplates,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { Authorizer } from '../request.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { statusRightErrors } from './device-claim-status.ts'
import { creates } from './stored-objects.ts'

/**
 * What upstream's strategies of claims ask of others than the claim: devices that others use are looked after only from namespaces that
 * a label allows it (KEP-5018), and parts of the status of claims need rights of their own.
 */
export function deviceClaims(registries: Registries, authorizer: Authorizer): AdmissionPlugin {
  const mayLookAfter = (namespace: string): boolean => {
    const { key, value } = deviceAdminNamespaceLabel
    const found = registries.byResource('', 'v1', 'namespaces')?.peek('', namespace)?.object as Namespace | undefined
    return found?.metadata.labels?.[key] === value
  }
  return {
    name: 'DeviceClaims',
    concerns: (target) =>
      creates(target, resourceClaims) || creates(target, resourceClaimTemplates) || changesStatus(target),
    validate(attributes, object) {
      const path = adminAccessPath(attributes, object as ResourceClaim | undefined)
      if (path !== undefined && !mayLookAfter(attributes.namespace)) {
        throw invalid(attributes.definition, object?.metadata.name ?? '', [notAllowed(path)])
      }
      if (object === undefined || !changesStatus(attributes)) return
      const { context, definition, old, isPatch } = attributes
      const errors = statusRightErrors(authorizer, {
        user: context.user,
        verb: isPatch ? 'patch' : 'update',
        claim: object as ResourceClaim,
        old: old as ResourceClaim,
      })
      if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
    },
  }
}

const notAllowed = (path: FieldPath): FieldError =>
  forbiddenField(
    path,
    `admin access to devices requires the \`${deviceAdminNamespaceLabel.key}: ${deviceAdminNamespaceLabel.value}\` label on the containing namespace`,
  )

/** Where a request newly asks for devices that others use; undefined where it does not. */
function adminAccessPath(attributes: AdmissionAttributes, object: ResourceClaim | undefined): FieldPath | undefined {
  if (object === undefined) return undefined
  if (creates(attributes, resourceClaims)) return requestPath(object.spec.devices, FieldPath.of('spec'))
  if (creates(attributes, resourceClaimTemplates)) {
    const { spec } = (object as unknown as ResourceClaimTemplate).spec
    return requestPath(spec.devices, FieldPath.of('spec', 'spec'))
  }
  if (!changesStatus(attributes)) return undefined
  const before = resultsOf(attributes.old as ResourceClaim)
  const index = resultsOf(object).findIndex(({ adminAccess }) => adminAccess === true)
  if (index < 0 || before.some(({ adminAccess }) => adminAccess === true)) return undefined
  return FieldPath.of('status', 'allocation', 'devices', 'results').index(index).field('adminAccess')
}

function requestPath({ requests = [] }: DeviceClaim = {}, spec: FieldPath): FieldPath | undefined {
  const index = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  return index < 0 ? undefined : spec.field('devices').field('requests').index(index).field('adminAccess')
}

const resultsOf = ({ status }: ResourceClaim) => status?.allocation?.devices?.results ?? []

const changesStatus = ({ operation, definition, subresource }: AdmissionTarget): boolean =>
  operation === 'UPDATE' &&
  definition.group === resourceClaims.group &&
  definition.plural === resourceClaims.plural &&
  subresource === 'status'
