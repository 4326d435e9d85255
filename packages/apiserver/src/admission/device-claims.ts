import {
  ApiError,
  compareText,
  type DeviceClaim,
  deepEqual,
  deviceAdminNamespaceLabel,
  deviceId,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalid,
  type Namespace,
  type ResourceClaim,
  type ResourceClaimStatus,
  type ResourceClaimTemplate,
  resourceClaims,
  resourceClaimTemplates,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { Authorizer, User } from '../request.ts'
import { authorize } from '../security/authorize.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { creates } from './stored-objects.ts'

/**
 * What upstream's strategies of claims ask of others than the claim: devices that others use are looked after only from namespaces that
 * a label allows it (KEP-5018), and who gets devices is said by whoever may bind claims, how devices are
 * by those who may speak for their driver (upstream's DRAResourceClaimGranularStatusAuthorization).
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
      const refused = statusRefusals(authorizer, attributes, object as ResourceClaim | undefined)
      if (refused.length > 0) throw invalid(attributes.definition, object?.metadata.name ?? '', refused)
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

/** The parts of a claim's status that the user may not write though they may write the status. */
function statusRefusals(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  object: ResourceClaim | undefined,
): readonly FieldError[] {
  if (object === undefined || !changesStatus(attributes)) return []
  const before = (attributes.old as ResourceClaim).status ?? {}
  const after = object.status ?? {}
  const { context, definition, namespace, isPatch } = attributes
  const verb = isPatch ? 'patch' : 'update'
  /** Why nobody lets the user do that; undefined where somebody does. */
  const refusalOf = (question: {
    readonly verb: string
    readonly subresource: string
    readonly name: string
    readonly namespace: string
  }) => {
    try {
      authorize(authorizer, context.user, { kind: 'resource', resource: definition, ...question })
    } catch (error) {
      if (error instanceof ApiError) return error.message
      throw error
    }
    return undefined
  }
  const refusals: FieldError[] = []
  const refuse = (path: FieldPath, what: string, subresource: string, verbs: string, why: string): void => {
    const needed = `resource="resourceclaims/${subresource}", verb="${verbs}"`
    refusals.push(forbiddenField(path, `changing ${what} requires ${needed} permission: ${why}`))
  }
  const status = FieldPath.of('status')
  if (changesBinding(before, after)) {
    const why = refusalOf({ verb, subresource: 'binding', namespace: '', name: '' })
    if (why !== undefined) refuse(status, 'status.allocation or status.reservedFor', 'binding', verb, why)
  }
  const isLocal = isOnNode(context.user, allocatedNode(after))
  const verbs = [...(isLocal ? ['associated-node'] : []), 'arbitrary-node'].map((prefix) => `${prefix}:${verb}`)
  for (const name of changedDrivers(before, after)) {
    const reasons = verbs.map((each) => refusalOf({ verb: each, subresource: 'driver', namespace, name }))
    const [first = ''] = reasons
    if (reasons.every((each) => each !== undefined)) {
      refuse(status.field('devices'), 'status.devices', 'driver', `[${verbs.join(' ')}]`, first)
    }
  }
  return refusals
}

const changesBinding = (before: ResourceClaimStatus, after: ResourceClaimStatus): boolean =>
  !deepEqual(before.allocation, after.allocation) || !deepEqual(before.reservedFor ?? [], after.reservedFor ?? [])

/** The drivers of whose devices the status says something new, or nothing any more. */
function changedDrivers(before: ResourceClaimStatus, after: ResourceClaimStatus): readonly string[] {
  const drivers = new Set<string>()
  const left = new Map((before.devices ?? []).map((device) => [deviceId(device), device]))
  for (const device of after.devices ?? []) {
    const known = left.get(deviceId(device))
    left.delete(deviceId(device))
    if (!deepEqual(known, device)) drivers.add(device.driver)
  }
  for (const { driver } of left.values()) drivers.add(driver)
  return [...drivers].sort(compareText)
}

/** The only node on which the devices of a claim can be used; undefined where there is no such node. */
function allocatedNode({ allocation }: ResourceClaimStatus): string | undefined {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const [{ matchExpressions = [], matchFields = [] } = {}] = terms
  const [{ key = '', operator = '', values = [] } = {}] = matchFields
  const isOne = terms.length === 1 && matchExpressions.length === 0 && matchFields.length === 1
  return isOne && key === 'metadata.name' && operator === 'In' && values.length === 1 ? values[0] : undefined
}

/** Whether a user is a service account of a pod on a node, as its token says. */
function isOnNode({ name, extra = {} }: User, node: string | undefined): boolean {
  const [first, ...others] = extra['authentication.kubernetes.io/node-name'] ?? []
  return name.startsWith('system:serviceaccount:') && node !== undefined && first === node && others.length === 0
}
