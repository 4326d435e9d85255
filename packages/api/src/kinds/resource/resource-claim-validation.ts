/** What is wrong with the status of a claim, in the words of upstream's `pkg/apis/resource/validation`. */
import {
  type FieldError,
  forbiddenField,
  invalidField,
  tooLongField,
  tooManyField,
  unsupportedField,
} from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { formatIp, parseIp } from '../../ip.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { validateNodeSelector } from '../core/pod/validation/scheduling.ts'
import { checkConditions } from '../meta/condition.ts'
import { checkUnchanged } from '../validation.ts'
import { deviceId, shownDevice } from './device-id.ts'
import { checkDriverName, checkLabel, checkPoolName } from './device-names.ts'
import {
  checkDeviceConfiguration,
  checkRawObject,
  checkRequestName,
  checkRequestNames,
  checkToleration,
  type RequestNames,
  requestNamesOf,
} from './device-request-validation.ts'
import {
  allocationResultsMax,
  bindingConditionsMax,
  deviceAddressesMax,
  deviceConditionsMax,
  deviceConfigMax,
  deviceDataBytesMax,
  hardwareAddressBytesMax,
  interfaceNameBytesMax,
  reservedForMax,
  tolerationsMax,
} from './limits.ts'
import { checkDistinctItems, checkItems } from './lists.ts'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from './resource-claim-schema.ts'

const statusPath = FieldPath.of('status')

/** What is wrong with a change of a claim's status. */
export function checkClaimStatus(claim: ResourceClaim, old: ResourceClaim): readonly FieldError[] {
  const { allocation, reservedFor = [], devices = [] } = claim.status ?? {}
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceId))
  const path = statusPath.field('reservedFor')
  return [
    ...checkDistinctItems(reservedFor, reservedForMax, path, ({ uid }) => uid, checkConsumer),
    ...checkDistinctItems(
      devices,
      Number.POSITIVE_INFINITY,
      statusPath.field('devices'),
      deviceId,
      (each, at) => checkDeviceStatus(each, at, allocated),
      shownDevice,
    ),
    ...checkReservations(claim, old, path),
    ...checkAllocationChange(claim, allocation, old.status?.allocation),
  ]
}

function checkConsumer(_: ResourceClaimConsumerReference): readonly FieldError[] {
  // That resource, name and UID are there is said by the schema.
  return []
}

function checkReservations(claim: ResourceClaim, old: ResourceClaim, path: FieldPath): readonly FieldError[] {
  const { allocation, reservedFor = [] } = claim.status ?? {}
  if (reservedFor.length === 0) return []
  if (allocation === undefined) return [forbiddenField(path, 'may not be specified when `allocated` is not set')]
  if (claim.metadata.deletionTimestamp === undefined) return []
  const before = old.status?.reservedFor ?? []
  const known = new Set(before.map(textOfConsumer))
  if (reservedFor.every((each) => known.has(textOfConsumer(each)))) return []
  const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
  return [forbiddenField(path, why)]
}

const textOfConsumer = ({ apiGroup = '', resource, name, uid }: ResourceClaimConsumerReference): string =>
  JSON.stringify([apiGroup, resource, name, uid])

/** What is there stays as it is until it is taken back, and is not looked at again. */
function checkAllocationChange(
  { spec }: ResourceClaim,
  allocation: AllocationResult | undefined,
  old: AllocationResult | undefined,
): readonly FieldError[] {
  if (allocation === undefined) return []
  const path = statusPath.field('allocation')
  if (old !== undefined) return checkUnchanged(allocation, old, path, 'resource.AllocationResult')
  const names = requestNamesOf(spec.devices ?? {})
  const { results = [], config = [] } = allocation.devices ?? {}
  const devices = path.field('devices')
  return [
    ...checkItems(results, allocationResultsMax, devices.field('results'), (each, at) => checkResult(each, at, names)),
    // Of the class and of the claim.
    ...checkItems(config, 2 * deviceConfigMax, devices.field('config'), (each, at) =>
      checkAllocationConfiguration(each, at, names),
    ),
    ...(allocation.nodeSelector === undefined
      ? []
      : validateNodeSelector(allocation.nodeSelector, path.field('nodeSelector'))),
  ]
}

function checkResult(
  result: DeviceRequestAllocationResult,
  path: FieldPath,
  names: RequestNames,
): readonly FieldError[] {
  const { shareID, tolerations = [] } = result
  return [
    ...checkRequestName(result.request, path.field('request'), names),
    ...checkDeviceNames(result, path),
    ...checkBindingConditions(result, path),
    ...checkItems(tolerations, tolerationsMax, path.field('tolerations'), checkToleration),
    ...checkShareId(shareID, path),
  ]
}

function checkDeviceNames(
  { driver, pool, device }: { readonly driver: string; readonly pool: string; readonly device: string },
  path: FieldPath,
): readonly FieldError[] {
  return [
    ...checkDriverName(driver, path.field('driver')),
    ...(pool ? checkPoolName(pool, path.field('pool')) : []),
    ...checkLabel(device, path.field('device')),
  ]
}

/** Those that must be true and those that must not are given together, and none of them is both. */
export function checkBindingConditions(
  {
    bindingConditions: wanted = [],
    bindingFailureConditions: failures = [],
  }: {
    readonly bindingConditions?: readonly string[] | undefined
    readonly bindingFailureConditions?: readonly string[] | undefined
  },
  path: FieldPath,
): readonly FieldError[] {
  const [wantedPath, failuresPath] = [path.field('bindingConditions'), path.field('bindingFailureConditions')]
  const allWanted = new Set(wanted)
  const checkName = (name: string, at: FieldPath) => checkTextOrEmpty('qualified-name', name, at)
  const needs = (name: string, other: string) => `${name} are required to use ${other}`
  return [
    ...checkDistinctItems(wanted, bindingConditionsMax, wantedPath, String, checkName),
    ...checkDistinctItems(failures, bindingConditionsMax, failuresPath, String, checkName),
    ...failures.flatMap((name, index) =>
      allWanted.has(name)
        ? [
            invalidField(
              failuresPath.index(index),
              name,
              'bindingFailureConditions must not overlap with bindingConditions',
            ),
          ]
        : [],
    ),
    ...(wanted.length === 0 && failures.length > 0
      ? [invalidField(wantedPath, null, needs('bindingConditions', 'bindingFailureConditions'))]
      : []),
    ...(failures.length === 0 && wanted.length > 0
      ? [invalidField(failuresPath, null, needs('bindingFailureConditions', 'bindingConditions'))]
      : []),
  ]
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function checkShareId(shareId: string | undefined, path: FieldPath): readonly FieldError[] {
  if (shareId === undefined || uuidPattern.test(shareId)) return []
  const problem = uuidProblem(shareId)
  const why =
    problem === undefined
      ? 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'
      : `error validating uid: ${problem}`
  return [invalidField(path.field('shareID'), shareId, why)]
}

/** Why a text is no UUID in any of the forms that google/uuid reads. */
function uuidProblem(text: string): string | undefined {
  const malformed = 'invalid UUID format'
  const length = utf8Bytes(text)
  switch (length) {
    case 32:
      return /^[0-9a-f]{32}$/i.test(text) ? undefined : malformed
    case 36:
      return uuidPattern.test(text.toLowerCase()) ? undefined : malformed
    case 38:
      if (!text.startsWith('{') || !text.endsWith('}')) return 'invalid bracketed UUID format'
      return uuidPattern.test(text.slice(1, -1).toLowerCase()) ? undefined : malformed
    case 45: {
      const prefix = text.slice(0, 9)
      if (prefix.toLowerCase() !== 'urn:uuid:') return `invalid urn prefix: ${JSON.stringify(prefix)}`
      return uuidPattern.test(text.slice(9).toLowerCase()) ? undefined : malformed
    }
    default:
      return `invalid UUID length: ${length}`
  }
}

const configSources: readonly string[] = ['FromClaim', 'FromClass']

function checkAllocationConfiguration(
  config: DeviceAllocationConfiguration,
  path: FieldPath,
  names: RequestNames,
): readonly FieldError[] {
  const { source } = config
  return [
    ...(!source || configSources.includes(source)
      ? []
      : [unsupportedField(path.field('source'), source, configSources)]),
    ...checkRequestNames(config.requests, path.field('requests'), names),
    ...checkDeviceConfiguration(config, path),
  ]
}

function checkDeviceStatus(
  status: AllocatedDeviceStatus,
  path: FieldPath,
  allocated: ReadonlySet<string>,
): readonly FieldError[] {
  const { shareID, conditions = [], data } = status
  return [
    ...checkDeviceNames(status, path),
    ...checkShareId(shareID, path),
    ...(allocated.has(deviceId(status))
      ? []
      : [invalidField(path, shownDevice(status), 'must be an allocated device in the claim')]),
    ...(conditions.length > deviceConditionsMax
      ? [tooManyField(path.field('conditions'), conditions.length, deviceConditionsMax)]
      : []),
    ...checkConditions(conditions, path.field('conditions')),
    ...(data === undefined ? [] : checkRawObject(data, deviceDataBytesMax, path.field('data'))),
    ...(status.networkData === undefined ? [] : checkNetworkData(status.networkData, path.field('networkData'))),
  ]
}

function checkNetworkData(
  { interfaceName = '', hardwareAddress = '', ips = [] }: NetworkDeviceData,
  path: FieldPath,
): readonly FieldError[] {
  const checkLength = (text: string, field: string, max: number) =>
    utf8Bytes(text) > max ? [tooLongField(path.field(field), max)] : []
  return [
    ...checkLength(interfaceName, 'interfaceName', interfaceNameBytesMax),
    ...checkLength(hardwareAddress, 'hardwareAddress', hardwareAddressBytesMax),
    ...checkDistinctItems(ips, deviceAddressesMax, path.field('ips'), String, checkInterfaceAddress),
  ]
}

/** An address with the length of its prefix, as it is usually written (IsValidInterfaceAddress). */
function checkInterfaceAddress(value: string, path: FieldPath): readonly FieldError[] {
  const [address = '', length = '', ...more] = value.split('/')
  const ip = parseIp(address)
  const isLength = /^\d+$/.test(length) && ip !== undefined && Number(length) <= (ip.family === 4 ? 32 : 128)
  if (!isLength || more.length > 0) {
    const why = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
    return [invalidField(path, value, why)]
  }
  const usual = `${formatIp(ip)}/${Number(length)}`
  return value === usual ? [] : [invalidField(path, value, `must be in canonical form ("${usual}")`)]
}
