import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  requiredField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { compareQuantity, isQuantity, parseQuantity } from '../../../../quantity.ts'
import { checkFormat } from '../../../../string-formats.ts'
import type { ResourceList } from '../../common.ts'
import type { PodSpec } from '../pod-spec.ts'
import { isHugePages } from '../resource-names.ts'
import type { ResourceRequirements } from '../resources.ts'
import { checkTextOrEmpty } from './checks.ts'

/** The names by which containers refer to the claims of their pod. */
export const claimNamesOf = ({ resourceClaims = [] }: Pick<PodSpec, 'resourceClaims'>): ReadonlySet<string> =>
  new Set(resourceClaims.map(({ name }) => name))

/** What a container, or a pod as a whole, asks for (ValidateResourceRequirements). */
export function validateResources(
  resources: ResourceRequirements | undefined,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
  nameErrors: NameCheck = containerResourceName,
): FieldError[] {
  if (resources === undefined) return []
  const { requests = {}, limits = {}, claims = [] } = resources
  return [
    ...validateAmounts(limits, nameErrors, path.field('limits')),
    ...validateAmounts(requests, nameErrors, path.field('requests')),
    ...Object.keys(requests).flatMap((name) => validateAgainstLimit(name, requests, limits, path)),
    ...hugePagesErrors({ ...limits, ...requests }, path),
    ...validateClaims(claims, claimNames, path.field('claims')),
  ]
}

/** What is wrong with the name of a resource where it stands. */
export type NameCheck = (name: string, path: FieldPath) => FieldError[]

function validateAmounts(amounts: ResourceList, nameErrors: NameCheck, path: FieldPath): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...nameErrors(name, path.key(name)),
    ...validateAmount(name, amount, path.key(name)),
  ])
}

const standardNames = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
])
/** Huge pages as quotas count them. */
const isHugePagesOfQuota = (name: string): boolean => isHugePages(name.replace(/^requests\./, ''))
const containerNames = new Set(['cpu', 'memory', 'ephemeral-storage'])
/** Resources that Kubernetes itself knows. */
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')
/** Resources that a vendor counts, such as GPUs: whole ones, and never more than there are (core/v1/helper IsExtendedResourceName). */
export const isExtended = (name: string): boolean =>
  // A quota for it puts a prefix before its name, which must leave it a name.
  !isNative(name) && !name.startsWith('requests.') && checkFormat('qualified-name', `requests.${name}`).length === 0
const counts = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
])

/** Whether a resource is a number of objects. */
export const isObjectCount = (name: string): boolean => counts.has(name)
/** Whether more of a resource may be promised than there is. */
export const mayBeOvercommitted = (name: string): boolean => isNative(name) && !isHugePages(name)

/** A standard resource, or a name with a prefix (validateResourceName). */
export function resourceName(name: string, path: FieldPath): FieldError[] {
  const errors = checkTextOrEmpty('qualified-name', name, path)
  if (errors.length > 0 || name.includes('/') || standardNames.has(name) || isHugePagesOfQuota(name)) return errors
  return [invalidField(path, name, 'must be a standard resource type or fully qualified')]
}

/** A resource that containers can have: a standard one, or one of a vendor. */
export function containerResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = resourceName(name, path)
  if (!name.includes('/')) {
    if (containerNames.has(name) || isHugePages(name)) return errors
    return [...errors, invalidField(path, name, 'must be a standard resource for containers')]
  }
  if (isNative(name) || isExtended(name)) return errors
  return [...errors, invalidField(path, name, "doesn't follow extended resource name standard")]
}

function validateAmount(name: string, amount: string, path: FieldPath): FieldError[] {
  if (!isQuantity(amount)) return []
  const { nanos } = parseQuantity(amount)
  const errors = nanos < 0n ? [invalidField(path, amount, 'must be greater than or equal to 0')] : []
  if (isExtended(name) && nanos % 1_000_000_000n !== 0n) errors.push(invalidField(path, amount, 'must be an integer'))
  if (isHugePages(name) && !isMultipleOfPage(name, nanos)) {
    errors.push(invalidField(path, amount, `${amount} is not positive integer multiple of ${name}`))
  }
  return errors
}

function isMultipleOfPage(name: string, nanos: bigint): boolean {
  const size = name.slice('hugepages-'.length)
  if (!isQuantity(size)) return false
  const page = parseQuantity(size).nanos
  return page > 0n && nanos % page === 0n
}

function validateAgainstLimit(
  name: string,
  requests: ResourceList,
  limits: ResourceList,
  path: FieldPath,
): FieldError[] {
  const [request, limit] = [requests[name], limits[name]]
  if (request === undefined || !isQuantity(request)) return []
  if (limit === undefined) {
    if (mayBeOvercommitted(name)) return []
    return [requiredField(path.field('limits'), 'Limit must be set for non overcommitable resources')]
  }
  if (!isQuantity(limit)) return []
  const order = compareQuantity(request, limit)
  const requestsPath = path.field('requests')
  if (order !== 0 && !mayBeOvercommitted(name)) {
    return [invalidField(requestsPath, request, `must be equal to ${name} limit of ${limit}`)]
  }
  return order > 0
    ? [invalidField(requestsPath, request, `must be less than or equal to ${name} limit of ${limit}`)]
    : []
}

function hugePagesErrors(all: ResourceList, path: FieldPath): FieldError[] {
  const names = Object.keys(all)
  if (!names.some(isHugePages) || names.includes('cpu') || names.includes('memory')) return []
  return [forbiddenField(path, 'HugePages require cpu or memory')]
}

function validateClaims(
  claims: NonNullable<ResourceRequirements['claims']>,
  claimNames: ReadonlySet<string>,
  path: FieldPath,
): FieldError[] {
  const seen = new Set<string>()
  return claims.flatMap(({ name, request }, index) => {
    const claimPath = path.index(index)
    if (name === '') return [requiredField(claimPath)]
    const errors = claimUseErrors(name, request, seen, claimPath)
    if (claimNames.has(name)) return errors
    return [...errors, notFoundField(claimPath, name, claimHint(claimNames))]
  })
}

/** Messages list this many of the names that there are. */
const shownClaimsMax = 100

/** All containers of a pod choose from the same names. */
const claimHints = new WeakMap<ReadonlySet<string>, string>()

function claimHint(claimNames: ReadonlySet<string>): string {
  const made = claimHints.get(claimNames)
  if (made !== undefined) return made
  const names = [...claimNames]
    .filter((name) => name !== '')
    .sort()
    .slice(0, shownClaimsMax)
  const choice = names.length === 0 ? ' which is empty' : `: ${names.join(', ')}`
  const hint = `must be one of the names in pod.spec.resourceClaims${choice}`
  claimHints.set(claimNames, hint)
  return hint
}

/** A claim is used once: as a whole, or request by request. */
function claimUseErrors(name: string, request: string | undefined, seen: Set<string>, path: FieldPath): FieldError[] {
  if (seen.has(name)) return [duplicateField(path, name)]
  const key = request ? `${name}/${request}` : name
  const errors = request ? checkTextOrEmpty('dns1123-label', request, path.field('request')) : []
  if (seen.has(key)) errors.push(duplicateField(path, key))
  else if (!request && seen.has(`${name}/`)) errors.push(duplicateField(path, name))
  seen.add(key)
  // A name has no slash: this says that some request of the claim is in use.
  if (request) seen.add(`${name}/`)
  return errors
}
