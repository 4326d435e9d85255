import {
  duplicateField,
  type FieldError,
  forbiddenField,
  internalField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { compareQuantity, isQuantity } from '../../../quantity.ts'
import { looseAddressFamily } from '../../addresses.ts'
import type { Container } from './container.ts'
import type { Pod } from './pod-schema.ts'
import type { PodResourceClaim, PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodResourceClaimStatus, PodStatus, ResourceStatus } from './pod-status.ts'
import { mayRestartAll, restartsAfter } from './restart-rules.ts'
import { annotationErrors, annotationUpdateErrors } from './validation/annotations.ts'
import { checkGiven, checkRange, checkText, checkTextOrEmpty, int32Max } from './validation/checks.ts'
import { isNative } from './validation/resources.ts'

const statusPath = FieldPath.of('status')
const conditionsPath = statusPath.field('conditions')
const podIPsPath = statusPath.field('podIPs')
const containerStatusesPath = statusPath.field('containerStatuses')
const initContainerStatusesPath = statusPath.field('initContainerStatuses')
const annotationsPath = FieldPath.of('metadata', 'annotations')
const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const
type StatusList = (typeof statusLists)[number]

const none: readonly never[] = []

/**
 * What an update of a pod's status may not do (core/validation ValidatePodStatusUpdate). Most of what is judged is not there, and nothing is
 * made for that: half a dozen updates of each pod come through here.
 */
export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const [status, oldStatus] = [pod.status ?? {}, old.status ?? {}]
  return [
    ...annotationUpdateErrors(pod.metadata.annotations, old.metadata.annotations, annotationsPath),
    ...annotationErrors(pod.metadata.annotations, old.spec, annotationsPath),
    ...conditionErrors(status),
    ...nominationErrors(status, old),
    ...negativeGeneration(status.observedGeneration, statusPath),
    ...(status.qosClass === oldStatus.qosClass
      ? []
      : [invalidField(statusPath.field('qosClass'), status.qosClass ?? '', 'field is immutable')]),
    ...statusLists.flatMap((list) => transitionErrors(status[list] ?? none, oldStatus[list] ?? none, list, old.spec)),
    ...claimErrors(status.resourceClaimStatuses ?? none, old.spec.resourceClaims ?? none),
    ...extendedClaimErrors(status, old.spec),
    ...nodeClaimErrors(status, old.spec),
    ...addressErrors(status.podIPs ?? none, oldStatus.podIPs ?? none, podIPsPath),
    ...hostAddressErrors(status, oldStatus),
    ...statusLists.flatMap((list) => userErrors(status[list] ?? none, list, old.spec)),
    ...healthErrors(status.containerStatuses ?? none, old.spec.containers ?? none, containerStatusesPath),
    ...healthErrors(status.initContainerStatuses ?? none, old.spec.initContainers ?? none, initContainerStatusesPath),
    ...(status.ephemeralContainerStatuses ?? none).flatMap(({ allocatedResourcesStatus = none }, index) =>
      allocatedResourcesStatus.length === 0
        ? []
        : [
            forbiddenField(
              statusPath.field('ephemeralContainerStatuses').index(index).field('allocatedResourcesStatus'),
              'must not be specified in container status',
            ),
          ],
    ),
  ]
}

const systemConditions = ['PodScheduled', 'Ready', 'Initialized']

function conditionErrors({ conditions = [] }: PodStatus): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, { type, observedGeneration = 0 }] of conditions.entries()) {
    if (observedGeneration >= 0 && systemConditions.includes(type)) continue
    const path = conditionsPath.index(index)
    errors.push(...negativeGeneration(observedGeneration, path))
    if (!systemConditions.includes(type)) errors.push(...checkTextOrEmpty('qualified-name', type, path.field('Type')))
  }
  return errors
}

const negativeGeneration = (generation = 0, path: FieldPath): readonly FieldError[] =>
  generation < 0 ? [invalidField(path.field('observedGeneration'), generation, 'must be a non-negative integer')] : none

/** A node is nominated for pods that have none yet. */
function nominationErrors({ nominatedNodeName }: PodStatus, { spec, status }: Pod): FieldError[] {
  if (!nominatedNodeName || nominatedNodeName === status?.nominatedNodeName) return []
  const path = statusPath.field('nominatedNodeName')
  const errors = checkText('dns1123-subdomain', nominatedNodeName, path)
  if (!spec.nodeName) return errors
  return [...errors, forbiddenField(path, 'may not be set on pods that are already bound to a node')]
}

const neverAgain = { restartPolicy: 'Never' } as const

/** A container that has ended for good, or that the pod does not name, stays that way. */
function transitionErrors(
  statuses: readonly ContainerStatus[],
  old: readonly ContainerStatus[],
  list: StatusList,
  spec: PodSpec,
): FieldError[] {
  if (!old.some(({ state }) => state?.terminated?.exitCode !== undefined)) return []
  const listed = list === 'initContainerStatuses' ? spec.initContainers : spec.containers
  const containers = new Map((listed ?? []).toReversed().map((each) => [each.name, each]))
  if (list !== 'ephemeralContainerStatuses' && mayRestartAll(spec)) return []
  const running = new Set(statuses.filter(({ state }) => state?.terminated === undefined).map(({ name }) => name))
  return old.flatMap((before, index) => {
    const exitCode = before.state?.terminated?.exitCode
    if (exitCode === undefined) return []
    const container = list === 'ephemeralContainerStatuses' ? neverAgain : containers.get(before.name)
    if (container !== undefined && restartsAfter(container, spec, exitCode)) return []
    if (!running.has(before.name)) return []
    const path = statusPath.field(list).index(index).field('state')
    return [forbiddenField(path, 'may not be transitioned to non-terminated state')]
  })
}

/** Each is of one of the claims that the pod names, and of another one than the rest. */
function claimErrors(
  statuses: readonly PodResourceClaimStatus[],
  claims: readonly PodResourceClaim[],
): readonly FieldError[] {
  if (statuses.length === 0) return none
  const known = new Set(claims.map(({ name }) => name))
  const seen = new Set<string>()
  return statuses.flatMap(({ name = '', resourceClaimName }, index) => {
    const path = statusPath.field('resourceClaimStatuses').index(index)
    const errors = known.has(name)
      ? []
      : [invalidField(path.field('name'), name, 'must match the name of an entry in `spec.resourceClaims`')]
    if (seen.has(name)) errors.push(duplicateField(path.field('name'), name))
    seen.add(name)
    return [...errors, ...checkGiven('dns1123-subdomain', resourceClaimName, path.field('resourceClaimName'))]
  })
}

/** The claim that stands for extended resources, and which of its requests is for which container. */
function extendedClaimErrors({ extendedResourceClaimStatus: claim }: PodStatus, spec: PodSpec): FieldError[] {
  if (claim === undefined) return []
  const path = statusPath.field('extendedResourceClaimStatus')
  const { requestMappings = [], resourceClaimName = '' } = claim
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((each) => [each.name, each]),
  )
  const seen = new Set<string>()
  return [
    ...(requestMappings.length === 0
      ? [requiredField(path.field('requestMappings'), 'at least one request mapping is required')]
      : []),
    ...requestMappings.flatMap((mapping, index) => {
      const { containerName = '', resourceName = '', requestName = '' } = mapping
      const at = path.field('requestMappings').index(index)
      const key = JSON.stringify([containerName, resourceName, requestName])
      const repeated = seen.has(key)
      seen.add(key)
      return [
        ...mappingErrors(containers.get(containerName), containerName, resourceName, at),
        ...checkTextOrEmpty('dns1123-label', requestName, path.field('requestName')),
        ...(repeated
          ? [
              duplicateField(at.field('containerName'), containerName),
              duplicateField(at.field('resourceName'), resourceName),
              duplicateField(at.field('requestName'), requestName),
            ]
          : []),
      ]
    }),
    ...(resourceClaimName === ''
      ? [requiredField(path.field('resourceClaimName'))]
      : checkText('dns1123-subdomain', resourceClaimName, path.field('resourceClaimName'))),
  ]
}

function mappingErrors(
  container: Container | undefined,
  containerName: string,
  resourceName: string,
  path: FieldPath,
): FieldError[] {
  if (container === undefined) {
    const rule = 'must match the name of an entry in spec.initContainers.name or spec.containers.name'
    return [invalidField(path.field('containerName'), containerName, rule)]
  }
  if (Object.hasOwn(container.resources?.requests ?? {}, resourceName)) return []
  const rule =
    'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests'
  return [invalidField(path.field('resourceName'), resourceName, rule)]
}

/** What nodes have given by claims: of claims that the pod has, and of resources that nodes have. */
function nodeClaimErrors(status: PodStatus, spec: PodSpec): readonly FieldError[] {
  const { nodeAllocatableResourceClaimStatuses: given } = status
  if (given === undefined) return none
  const known = new Set([
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(status.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
  ])
  return given.flatMap((each, index) => {
    const { resourceClaimName = '', containers = [], resources = {} } = each
    const path = statusPath.field('nodeAllocatableResourceClaimStatuses').index(index)
    const [namePath, resourcesPath] = [path.field('resourceClaimName'), path.field('resources')]
    const amounts = Object.entries(resources)
    return [
      ...(resourceClaimName === '' ? [requiredField(namePath, 'must not be empty')] : []),
      ...(known.has(resourceClaimName)
        ? []
        : [invalidField(namePath, resourceClaimName, 'no mapping found in pod reference')]),
      ...(containers.length === 0 ? [requiredField(path.field('containers'), 'must not be empty')] : []),
      ...(amounts.length === 0 ? [requiredField(resourcesPath, 'must not be empty')] : []),
      ...amounts.flatMap(([name, amount]) => [
        ...(isNative(name)
          ? []
          : [invalidField(resourcesPath.key(name), name, 'must be a node allocatable resource name')]),
        ...(isQuantity(amount) && compareQuantity(amount, '0') < 0
          ? [invalidField(resourcesPath.key(name), amount, 'must be non-negative')]
          : []),
      ]),
    ]
  })
}

interface Address {
  readonly ip: string
}

/** At most one address of each family. What was there before may stay as it is written. */
function addressErrors(addresses: readonly Address[], old: readonly Address[], path: FieldPath): readonly FieldError[] {
  if (addresses === old) return none
  const before = new Set(old.map(({ ip }) => ip))
  const errors = addresses.flatMap(({ ip = '' }, index) =>
    before.has(ip) ? [] : checkTextOrEmpty('ip', ip, path.index(index)),
  )
  if (addresses.length < 2) return errors
  const families = addresses.map(({ ip = '' }) => looseFamily(ip))
  const wrong = families.indexOf(0)
  if (wrong >= 0) {
    const problem = `failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]?.ip ?? ''}`
    errors.push(internalField(path, problem))
  }
  if (wrong >= 0 || new Set(families).size < 2 || addresses.length > 2) {
    errors.push(
      invalidField(path, structValue('core.PodIP', addresses), 'may specify no more than one IP for each IP family'),
    )
  }
  return errors
}

/** The family of an address, which may have leading zeros. An address of IPv4 may be written as one of IPv6. */
function looseFamily(ip: string): 0 | 4 | 6 {
  const family = looseAddressFamily(ip)
  return family === 6 && /^::ffff:[\d.]+$/i.test(ip) ? 4 : family
}

function hostAddressErrors({ hostIP = '', hostIPs = none }: PodStatus, old: PodStatus): readonly FieldError[] {
  const [first] = hostIPs
  if (first === undefined) return none
  const path = statusPath.field('hostIPs')
  const { ip = '' } = first
  const errors = ip === hostIP ? [] : [invalidField(path.index(0).field('ip'), ip, 'must be equal to `hostIP`')]
  return [...errors, ...addressErrors(hostIPs, old.hostIPs ?? none, path)]
}

/** Users that containers have started as, which Windows has other ones of. */
function userErrors(statuses: readonly ContainerStatus[], list: StatusList, { os }: PodSpec): FieldError[] {
  return statuses.flatMap(({ user }, index) => {
    if (user?.linux === undefined) return []
    const path = statusPath.field(list).index(index).field('user').field('linux')
    if (os?.name === 'windows') return [forbiddenField(path, 'cannot be set for a windows pod')]
    if (os !== undefined && os.name !== 'linux') return []
    const { uid = 0, gid = 0, supplementalGroups = [] } = user.linux
    return [
      ...checkRange(uid, 0, int32Max, path.field('uid')),
      ...checkRange(gid, 0, int32Max, path.field('gid')),
      ...supplementalGroups.flatMap((group, at) =>
        checkRange(group, 0, int32Max, path.field('supplementalGroups').index(at)),
      ),
    ]
  })
}

/** How the devices of containers are: of resources that they ask for. */
function healthErrors(
  statuses: readonly ContainerStatus[],
  containers: readonly Container[],
  path: FieldPath,
): readonly FieldError[] {
  if (!statuses.some(({ allocatedResourcesStatus = none }) => allocatedResourcesStatus.length > 0)) return none
  const byName = new Map(containers.toReversed().map((each) => [each.name, each]))
  return statuses.flatMap(({ name, allocatedResourcesStatus = none }, index) => {
    const asked = askedResources(byName.get(name))
    return allocatedResourcesStatus.flatMap((each, at) => {
      const statusAt = path.index(index).field('allocatedResourcesStatus').index(at)
      const wrongName = asked === undefined || asked.has(each.name ?? '') ? [] : [unaskedResource(each.name, statusAt)]
      return [...wrongName, ...deviceErrors(each, statusAt.field('resources'))]
    })
  })
}

/** Names that statuses of devices have for what a container asks for. Undefined where there is no such container. */
function askedResources(container: Container | undefined): ReadonlySet<string> | undefined {
  if (container === undefined) return undefined
  const { requests = {}, claims = [] } = container.resources ?? {}
  const ofClaims = claims.map(({ name, request }) => (request ? `claim:${name}/${request}` : `claim:${name}`))
  return new Set([...Object.keys(requests).filter((name) => !name.startsWith('claim:')), ...ofClaims])
}

function unaskedResource(name = '', path: FieldPath): FieldError {
  const rule = name.startsWith('claim:')
    ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    : "must match one of the container's resource requests"
  return invalidField(path.field('name'), name, rule)
}

const healths = ['Healthy', 'Unhealthy', 'Unknown']
const healthMessageMax = 1024

function deviceErrors({ resources = [] }: ResourceStatus, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return resources.flatMap(({ health, message, resourceID = '' }, index) => {
    const at = path.index(index)
    const errors = healths.includes(health ?? '') ? [] : [unsupportedField(at.field('health'), health ?? '', healths)]
    if (message === '') errors.push(requiredField(at.field('message'), 'must be non-empty if specified'))
    if (message !== undefined && Buffer.byteLength(message) > healthMessageMax) {
      errors.push(tooLongField(at.field('message'), healthMessageMax))
    }
    if (seen.has(resourceID)) errors.push(duplicateField(at.field('resourceID'), resourceID))
    seen.add(resourceID)
    return errors
  })
}
