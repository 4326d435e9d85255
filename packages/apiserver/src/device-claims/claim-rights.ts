import {
  type DeviceClaim,
  deviceAdminNamespaceLabel,
  type FieldError,
  FieldPath,
  forbiddenField,
  type Namespace,
  type ResourceClaim,
  type ResourceClaimTemplate,
  resourceClaims,
  resourceClaimTemplates,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { CheckedWrite, OutsideRules } from '../registry/outside-rules.ts'
import type { Authorizer } from '../request.ts'
import { statusRightErrors } from './status-rights.ts'

/**
 * Has the rules of claims ask what upstream's strategies ask of others than the claim: devices that others use are looked after only from
 * namespaces that a label allows it (KEP-5018), and parts of the status of claims need rights of their own.
 */
export function checkDeviceClaims(registries: Registries, authorizer: Authorizer): void {
  const mayLookAfter = (namespace: string): boolean => {
    const { key, value } = deviceAdminNamespaceLabel
    const found = registries.byResource('', 'v1', 'namespaces')?.peek('', namespace)?.object as Namespace | undefined
    return found?.metadata.labels?.[key] === value
  }
  const rules: OutsideRules = (write) => {
    const path = adminAccessPath(write)
    const errors = path === undefined || mayLookAfter(write.namespace) ? [] : [notAllowed(path)]
    const { verb, old } = write
    if (verb === 'create' || !changesStatus(write)) return errors
    const claims = { claim: write.object as ResourceClaim, old: old as ResourceClaim }
    return [...errors, ...statusRightErrors(authorizer, { user: write.user, verb, ...claims })]
  }
  for (const registry of [registries.of(resourceClaims), registries.of(resourceClaimTemplates)]) {
    if (registry !== undefined) registry.storage.outsideRules = rules
  }
}

const notAllowed = (path: FieldPath): FieldError =>
  forbiddenField(
    path,
    `admin access to devices requires the \`${deviceAdminNamespaceLabel.key}: ${deviceAdminNamespaceLabel.value}\` label on the containing namespace`,
  )

/** Where a write newly asks for devices that others use; undefined where it does not. */
function adminAccessPath(write: CheckedWrite): FieldPath | undefined {
  const { object, old, verb, definition } = write
  if (verb === 'create') {
    if (definition.plural === resourceClaims.plural)
      return requestPath((object as ResourceClaim).spec.devices, FieldPath.of('spec'))
    return requestPath((object as ResourceClaimTemplate).spec.spec.devices, FieldPath.of('spec', 'spec'))
  }
  if (!changesStatus(write)) return undefined
  const before = resultsOf(old as ResourceClaim)
  const index = resultsOf(object as ResourceClaim).findIndex(({ adminAccess }) => adminAccess === true)
  if (index < 0 || before.some(({ adminAccess }) => adminAccess === true)) return undefined
  return FieldPath.of('status', 'allocation', 'devices', 'results').index(index).field('adminAccess')
}

function requestPath({ requests = [] }: DeviceClaim = {}, spec: FieldPath): FieldPath | undefined {
  const index = requests.findIndex(({ exactly }) => exactly?.adminAccess === true)
  return index < 0 ? undefined : spec.field('devices').field('requests').index(index).field('adminAccess')
}

const resultsOf = ({ status }: ResourceClaim) => status?.allocation?.devices?.results ?? []

const changesStatus = ({ definition, subresource }: CheckedWrite): boolean =>
  definition.plural === resourceClaims.plural && subresource === 'status'
