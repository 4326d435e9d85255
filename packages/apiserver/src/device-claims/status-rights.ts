import {
  type AllocatedDeviceStatus,
  ApiError,
  compareText,
  deepEqual,
  type FieldError,
  FieldPath,
  forbiddenField,
  type ResourceClaim,
  type ResourceClaimStatus,
  resourceClaims,
} from '@coracle/api'
import type { Authorizer, User } from '../request.ts'
import { authorize } from '../security/authorize.ts'

/** A write of a claim's status. */
export interface ClaimStatusWrite {
  readonly user: User
  /** Of the request. */
  readonly verb: 'update' | 'patch'
  readonly claim: ResourceClaim
  readonly old: ResourceClaim
}

/**
 * What of a claim's status a user may not change: who gets devices is for those who bind claims, and how devices are for their drivers
 * (upstream's DRAResourceClaimGranularStatusAuthorization).
 */
export function statusRightErrors(
  authorizer: Authorizer,
  { user, verb, claim, old }: ClaimStatusWrite,
): readonly FieldError[] {
  const [before = {}, after = {}] = [old.status, claim.status]
  const path = FieldPath.of('status')
  const errors: FieldError[] = []
  if (changesBinding(before, after)) {
    // Whoever binds claims binds those of all namespaces.
    const why = refusalOf(authorizer, user, { verb, subresource: 'binding', namespace: '', name: '' })
    if (why !== undefined) {
      const what = 'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding"'
      errors.push(forbiddenField(path.field('allocation'), `${what}, verb="${verb}" permission: ${why}`))
    }
  }
  // What is said of devices goes with them.
  if (after.allocation === undefined) return errors
  const verbs = driverPrefixes(user, after).map((prefix) => `${prefix}:${verb}`)
  for (const driver of changedDrivers(before, after)) {
    const namespace = claim.metadata.namespace ?? ''
    const refusals = verbs.map(
      (each) => () => refusalOf(authorizer, user, { verb: each, subresource: 'driver', namespace, name: driver }),
    )
    const why = firstWhereAllRefuse(refusals)
    if (why === undefined) continue
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]"`
    errors.push(forbiddenField(path.field('devices'), `${what} permission: ${why}`))
  }
  return errors
}

function changesBinding(before: ResourceClaimStatus, after: ResourceClaimStatus): boolean {
  return (
    !deepEqual(before.allocation, after.allocation) || !deepEqual(before.reservedFor ?? [], after.reservedFor ?? [])
  )
}

/** The drivers of whose devices something else is said than before, in order. */
function changedDrivers(before: ResourceClaimStatus, after: ResourceClaimStatus): readonly string[] {
  const left = new Map((before.devices ?? []).map((device) => [keyOf(device), device]))
  const drivers = new Set<string>()
  for (const device of after.devices ?? []) {
    const key = keyOf(device)
    if (!deepEqual(left.get(key), device)) drivers.add(device.driver)
    left.delete(key)
  }
  for (const { driver } of left.values()) drivers.add(driver)
  return [...drivers].sort(compareText)
}

const keyOf = ({ driver, pool, device, shareID = '' }: AllocatedDeviceStatus): string =>
  JSON.stringify([driver, pool, device, shareID])

/** What the verbs begin with, one of which is enough. An account of a pod on the node of the devices needs no rights on others. */
function driverPrefixes({ name, extra }: User, { allocation }: ResourceClaimStatus): readonly string[] {
  const nodeNames = extra?.['authentication.kubernetes.io/node-name'] ?? []
  const isThere =
    /^system:serviceaccount:[^:]+:[^:]+$/.test(name) && nodeNames.length === 1 && nodeNames[0] === nodeOf(allocation)
  return [...(isThere ? ['associated-node'] : []), 'arbitrary-node']
}

/** The only node that an allocation is for; undefined where it does not name one. */
function nodeOf(allocation: ResourceClaimStatus['allocation']): string | undefined {
  const [term, ...otherTerms] = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const [field, ...otherFields] = term?.matchFields ?? []
  if (otherTerms.length > 0 || otherFields.length > 0 || (term?.matchExpressions ?? []).length > 0) return undefined
  if (field?.key !== 'metadata.name' || field.operator !== 'In' || field.values?.length !== 1) return undefined
  return field.values[0]
}

/** The first of several refusals; undefined where one of them is none, after which nobody else is asked. */
function firstWhereAllRefuse(refusals: readonly (() => string | undefined)[]): string | undefined {
  let first: string | undefined
  for (const refusal of refusals) {
    const why = refusal()
    if (why === undefined) return undefined
    first ??= why
  }
  return first
}

interface Question {
  readonly verb: string
  readonly subresource: 'binding' | 'driver'
  readonly namespace: string
  readonly name: string
}

/** Why a user may not do something with a part of claims that is there for rights alone; undefined where it is allowed. */
function refusalOf(authorizer: Authorizer, user: User, question: Question): string | undefined {
  try {
    authorize(authorizer, user, { kind: 'resource', resource: resourceClaims, ...question })
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}
