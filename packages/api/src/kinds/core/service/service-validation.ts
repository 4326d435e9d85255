import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ObjectMeta } from '../../../meta.ts'
import { validateLabels } from '../../../object-meta-validation.ts'
import { cidrWarnings, ipWarnings } from '../../address-warnings.ts'
import { addressFamily, checkIp, checkNonSpecialIp, checkStrictCidr, looseAddressFamily } from '../../addresses.ts'
import { checkGiven, checkPort, checkPortNumber, checkText } from '../pod/validation/checks.ts'
import { noClusterIp, type Service, type ServicePort, type ServiceSpec } from './service-schema.ts'
import { isExternallyAccessible, needsClusterIp, needsHealthCheckNodePort } from './service-update.ts'

const specPath = FieldPath.of('spec')
const clientIpTimeoutSecondsMax = 86_400
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'"

/** A Service whose pods are found by their own addresses. */
export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean =>
  clusterIPs.length === 1 && clusterIPs[0] === noClusterIp

/** What the server allocates may still be missing; all that is there is checked. */
export function validateService({ metadata, spec }: Service): readonly FieldError[] {
  const { ports = [], type } = spec
  const portsPath = specPath.field('ports')
  const needsPorts = ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName'
  return [
    ...topologyErrors(metadata),
    ...(needsPorts ? [requiredField(portsPath)] : []),
    ...typeErrors(spec),
    ...portErrors(ports, portsPath),
    ...validateLabels(spec.selector, specPath.field('selector')),
    ...affinityErrors(spec, specPath.field('sessionAffinityConfig')),
    ...(needsClusterIp(spec) ? clusterIpErrors(spec) : []),
    ...(spec.externalIPs ?? []).flatMap((ip, index) =>
      externalIpErrors(ip, specPath.field('externalIPs').index(index)),
    ),
    ...nodePortErrors(spec, portsPath),
    ...samePortErrors(ports, portsPath),
    ...sourceRangeErrors(metadata, spec),
    ...loadBalancerErrors(spec),
    ...trafficErrors(spec),
  ]
}

/**
 * What is wrong with the addresses and families that a service asks for, whatever they would be given: to be known before
 * anything is allocated.
 */
export function validateServiceAddresses({ spec }: Service, old: Service | undefined): readonly FieldError[] {
  return [
    ...(needsClusterIp(spec) ? clusterIpErrors(spec) : []),
    ...(old === undefined ? [] : clusterIpChangeErrors(spec, old.spec)),
  ]
}

function clusterIpChangeErrors(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const [before, after] = [old.clusterIPs?.[0] ?? '', spec.clusterIPs?.[0] ?? '']
  if (!needsClusterIp(old) || !needsClusterIp(spec) || before === '' || before === after) return []
  const why = after === '' ? 'primary clusterIP can not be unset' : 'may not change once set'
  return [invalidField(specPath.field('clusterIPs').index(0), spec.clusterIPs ?? [], why)]
}

/** What cannot change: addresses and families that stay, which load balancer serves it, and where that asks how nodes are. */
export function validateServiceUpdate({ spec }: Service, { spec: old }: Service): readonly FieldError[] {
  const errors: FieldError[] = [
    ...addressChangeErrors(spec, old),
    ...familyChangeErrors(spec, old),
    ...classErrors(spec),
  ]
  if (old.type === 'LoadBalancer' && spec.type === 'LoadBalancer' && old.loadBalancerClass !== spec.loadBalancerClass) {
    errors.push(invalidField(specPath.field('loadBalancerClass'), spec.loadBalancerClass, onceSet))
  }
  const isAskedThere = needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec)
  if (isAskedThere && old.healthCheckNodePort !== spec.healthCheckNodePort) {
    errors.push(forbiddenField(specPath.field('healthCheckNodePort'), 'field is immutable'))
  }
  return errors
}

const onceSet = 'may not change once set'
const singleStack = (what: string) => `must be set to 'SingleStack' when releasing the secondary ${what}`

/** A second address may come and, with a policy that says so, go. All others stay (validateUpgradeDowngradeClusterIPs). */
function addressChangeErrors(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  if (!needsClusterIp(old) || !needsClusterIp(spec) || (isHeadless(old) && isHeadless(spec))) return []
  const { clusterIPs: after = [], ipFamilyPolicy } = spec
  const before = old.clusterIPs ?? []
  const path = specPath.field('clusterIPs')
  if (before.length === after.length) {
    return before.flatMap((ip, index) => (ip === after[index] ? [] : [invalidField(path.index(index), after, onceSet)]))
  }
  const errors: FieldError[] = []
  if (after.length === 0) {
    errors.push(invalidField(path.index(0), spec.clusterIPs, 'primary clusterIP can not be unset'))
  } else if (before.length > 0 && after[0] !== before[0]) errors.push(invalidField(path.index(0), after, onceSet))
  if (before.length > after.length && after.length === 1 && ipFamilyPolicy !== 'SingleStack') {
    errors.push(invalidField(specPath.field('ipFamilyPolicy'), ipFamilyPolicy, singleStack('clusterIP')))
  }
  return errors
}

/** The same of families (validateUpgradeDowngradeIPFamilies). Upstream names the first one for each. */
function familyChangeErrors(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  if (!needsClusterIp(old) || !needsClusterIp(spec) || isHeadless(old) || isHeadless(spec)) return []
  const { ipFamilies: after = [], clusterIPs = [], ipFamilyPolicy } = spec
  const before = old.ipFamilies ?? []
  const path = specPath.field('ipFamilies').index(0)
  if (before.length === after.length) {
    return before.flatMap((family, index) => (family === after[index] ? [] : [invalidField(path, after, onceSet)]))
  }
  const errors: FieldError[] = []
  const isReleased = before.length > after.length
  if (isReleased && clusterIPs.length === 0) {
    errors.push(invalidField(path, spec.ipFamilies, 'primary ipFamily can not be unset'))
  }
  if (before.length > 0 && after.length > 0 && after[0] !== before[0]) {
    errors.push(invalidField(path, spec.clusterIPs, onceSet))
  }
  if (isReleased && after.length === 1 && ipFamilyPolicy !== 'SingleStack') {
    errors.push(invalidField(specPath.field('ipFamilyPolicy'), ipFamilyPolicy, singleStack('ipFamily')))
  }
  return errors
}

/** Addresses that are there already stay, whatever they are. */
export function validateServiceStatus({ spec, status }: Service, old: Service): readonly FieldError[] {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  const before = new Set(old.status?.loadBalancer?.ingress?.map(({ ip }) => ip))
  const ingress = status?.loadBalancer?.ingress ?? []
  if (ingress.length > 0 && spec.type !== 'LoadBalancer') {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  return ingress.flatMap(({ ip = '', ipMode, hostname = '' }, index) => {
    const at = path.index(index)
    return [
      ...(ip === '' || before.has(ip) ? [] : checkIp(ip, at.field('ip'))),
      ...(ip === '' && ipMode !== undefined
        ? [forbiddenField(at.field('ipMode'), 'may not be specified when `ip` is not set')]
        : []),
      ...checkText('dns1123-subdomain', hostname, at.field('hostname')),
      ...(looseAddressFamily(hostname) !== 0
        ? [invalidField(at.field('hostname'), hostname, 'must be a DNS name, not an IP address')]
        : []),
    ]
  })
}

function typeErrors(spec: ServiceSpec): readonly FieldError[] {
  const { type, clusterIPs = [] } = spec
  switch (type) {
    case 'LoadBalancer':
    case 'NodePort':
      break
    case 'ExternalName':
      return externalNameErrors(spec)
    default:
      return []
  }
  if (!isHeadless(spec)) return []
  const why = `may not be set to 'None' for ${type} services`
  return [invalidField(specPath.field('clusterIPs').index(0), clusterIPs[0], why)]
}

function externalNameErrors(spec: ServiceSpec): readonly FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec
  const set = {
    clusterIPs: clusterIPs.length > 0,
    ipFamilies: ipFamilies.length > 0,
    ipFamilyPolicy: ipFamilyPolicy !== undefined,
  }
  // A trailing dot says that the name is a whole one.
  const name = externalName.replace(/\.$/, '')
  const namePath = specPath.field('externalName')
  return [
    ...Object.entries(set).flatMap(([field, isSet]) =>
      isSet ? [forbiddenField(specPath.field(field), 'may not be set for ExternalName services')] : [],
    ),
    ...(name === '' ? [requiredField(namePath)] : checkText('dns1123-subdomain', name, namePath)),
  ]
}

function portErrors(ports: readonly ServicePort[], path: FieldPath): readonly FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name = '', port, targetPort, appProtocol }, index) => {
    const at = path.index(index)
    const isTwice = name !== '' && names.has(name)
    names.add(name)
    return [
      ...(name === '' && ports.length > 1 ? [requiredField(at.field('name'))] : []),
      ...checkText('dns1123-label', name, at.field('name')),
      ...(isTwice ? [duplicateField(at.field('name'), name)] : []),
      ...checkPortNumber(port, at.field('port')),
      ...(targetPort === undefined ? [] : checkPort(targetPort, at.field('targetPort'))),
      ...checkGiven('qualified-name', appProtocol, at.field('appProtocol')),
    ]
  })
}

function affinityErrors(
  { sessionAffinity, sessionAffinityConfig }: ServiceSpec,
  path: FieldPath,
): readonly FieldError[] {
  if (sessionAffinity !== 'ClientIP') {
    if (sessionAffinity !== 'None' || sessionAffinityConfig === undefined) return []
    return [forbiddenField(path, 'must not be set when session affinity is None')]
  }
  const { timeoutSeconds } = sessionAffinityConfig?.clientIP ?? {}
  const at = path.field('clientIP').field('timeoutSeconds')
  if (timeoutSeconds === undefined) return [requiredField(at, 'when session affinity type is ClientIP')]
  if (timeoutSeconds > 0 && timeoutSeconds <= clientIpTimeoutSecondsMax) return []
  return [invalidField(at, timeoutSeconds, `must be greater than 0 and less than ${clientIpTimeoutSecondsMax}`)]
}

/** The addresses, and whether they are of the families that are asked for (ValidateServiceClusterIPsRelatedFields). */
function clusterIpErrors(spec: ServiceSpec): readonly FieldError[] {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = spec
  const path = specPath.field('clusterIPs')
  const errors: FieldError[] = []
  if (clusterIP === '' && clusterIPs.length > 0) {
    errors.push(invalidField(path, clusterIPs, 'must be empty when `clusterIP` is not specified'))
  }
  if (clusterIP !== '' && clusterIPs.length === 0) errors.push(requiredField(path))
  else if (clusterIP !== '' && clusterIPs[0] !== clusterIP) {
    errors.push(invalidField(path, clusterIPs, 'first value must match `clusterIP`'))
  }
  errors.push(...familyErrors(ipFamilies, specPath.field('ipFamilies')))
  const invalid = clusterIPs.flatMap((ip, index) => {
    if (index > 0 || ip !== noClusterIp) return checkIp(ip, path.index(index))
    return clusterIPs.length > 1 ? [invalidField(path, clusterIPs, "'None' must be the first and only value")] : []
  })
  errors.push(...invalid)
  if (clusterIPs.length > 2) errors.push(invalidField(path, clusterIPs, 'may only hold up to 2 values'))
  if (invalid.length > 0) return errors
  const families = new Set(clusterIPs.map(addressFamily))
  if (clusterIPs.length > 1 && families.size < 2) {
    errors.push(invalidField(path, clusterIPs, 'may specify no more than one IP for each IP family'))
  }
  if (!isHeadless(spec)) errors.push(...familyMatchErrors(clusterIPs, ipFamilies, path))
  return errors
}

function familyErrors(families: readonly string[], path: FieldPath): readonly FieldError[] {
  return families.flatMap((family, index) => [
    ...(family === 'IPv4' || family === 'IPv6' ? [] : [unsupportedField(path.index(index), family, ['IPv4', 'IPv6'])]),
    ...(families.indexOf(family) < index ? [duplicateField(path.index(index), family)] : []),
  ])
}

function familyMatchErrors(
  addresses: readonly string[],
  families: readonly string[],
  path: FieldPath,
): readonly FieldError[] {
  return addresses.flatMap((ip, index) => {
    const family = families[index]
    if (family === undefined || family === `IPv${addressFamily(ip)}`) return []
    const why = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``
    return [invalidField(path.index(index), ip, why)]
  })
}

function externalIpErrors(ip: string, path: FieldPath): readonly FieldError[] {
  const errors = checkIp(ip, path)
  return errors.length > 0 ? errors : checkNonSpecialIp(ip, path)
}

function nodePortErrors({ type, ports = [] }: ServiceSpec, path: FieldPath): readonly FieldError[] {
  const seen = new Set<string>()
  return ports.flatMap(({ nodePort = 0, protocol = 'TCP' }, index) => {
    if (nodePort === 0) return []
    const at = path.index(index).field('nodePort')
    const key = `${nodePort}/${protocol}`
    const isTwice = seen.has(key)
    seen.add(key)
    return [
      ...(type === 'ClusterIP' ? [forbiddenField(at, "may not be used when `type` is 'ClusterIP'")] : []),
      ...(isTwice ? [duplicateField(at, nodePort)] : []),
    ]
  })
}

/** No two ports may be the same of the same protocol. */
function samePortErrors(ports: readonly ServicePort[], path: FieldPath): readonly FieldError[] {
  if (ports.length < 2) return []
  const seen = new Set<string>()
  return ports.flatMap(({ port, protocol = 'TCP' }, index) => {
    const key = `${port}/${protocol}`
    if (!seen.has(key)) {
      seen.add(key)
      return []
    }
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 }
    return [duplicateField(path.index(index), shown)]
  })
}

function loadBalancerErrors(spec: ServiceSpec): readonly FieldError[] {
  const errors = classErrors(spec)
  if (spec.type === 'LoadBalancer' || spec.allocateLoadBalancerNodePorts === undefined) return errors
  return [forbiddenField(specPath.field('allocateLoadBalancerNodePorts'), onlyLoadBalancer), ...errors]
}

function classErrors({ type, loadBalancerClass }: ServiceSpec): readonly FieldError[] {
  const path = specPath.field('loadBalancerClass')
  if (type === 'LoadBalancer') return checkGiven('qualified-name', loadBalancerClass, path)
  return loadBalancerClass === undefined ? [] : [forbiddenField(path, onlyLoadBalancer)]
}

const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'

/** Ranges that a load balancer takes traffic from are in a field or, as once, in an annotation. Either may pad them with spaces. */
function sourceRangeErrors({ annotations }: ObjectMeta, spec: ServiceSpec): readonly FieldError[] {
  const { type, loadBalancerSourceRanges = [] } = spec
  const annotation = annotations?.[sourceRangesAnnotation]
  const misplaced = (path: FieldPath) => (type === 'LoadBalancer' ? [] : [forbiddenField(path, onlyLoadBalancer)])
  if (loadBalancerSourceRanges.length > 0) {
    // Upstream spells the field like this in its messages.
    const path = specPath.field('LoadBalancerSourceRanges')
    const ranges = loadBalancerSourceRanges.flatMap((range, index) => checkStrictCidr(range.trim(), path.index(index)))
    return [...misplaced(path), ...ranges]
  }
  if (annotation === undefined) return []
  const path = FieldPath.of('metadata', 'annotations').key(sourceRangesAnnotation)
  const ranges = annotation.trim() === '' ? [] : annotation.trim().split(',')
  return [...misplaced(path), ...ranges.flatMap((range) => checkStrictCidr(range.trim(), path))]
}

const topologyModeAnnotation = 'service.kubernetes.io/topology-mode'
const topologyHintsAnnotation = 'service.kubernetes.io/topology-aware-hints'

/** An annotation that has two names says the same under both. */
function topologyErrors({ annotations }: ObjectMeta): readonly FieldError[] {
  const [mode, hints] = [annotations?.[topologyModeAnnotation], annotations?.[topologyHintsAnnotation]]
  if (mode === undefined || hints === undefined || mode === hints) return []
  const path = FieldPath.of('metadata', 'annotations').key(topologyModeAnnotation)
  return [invalidField(path, mode, `must match annotations[${topologyHintsAnnotation}] when both are specified`)]
}

function trafficErrors(spec: ServiceSpec): readonly FieldError[] {
  const { healthCheckNodePort = 0 } = spec
  const externalTrafficPolicy: string = spec.externalTrafficPolicy ?? ''
  const errors: FieldError[] = []
  const portPath = specPath.field('healthCheckNodePort')
  if (externalTrafficPolicy !== '' && !isExternallyAccessible(spec)) {
    const why = 'may only be set for externally-accessible services'
    errors.push(invalidField(specPath.field('externalTrafficPolicy'), externalTrafficPolicy, why))
  }
  if (healthCheckNodePort === 0) return errors
  if (needsHealthCheckNodePort(spec)) return [...errors, ...checkPortNumber(healthCheckNodePort, portPath)]
  const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  return [...errors, invalidField(portPath, healthCheckNodePort, why)]
}

/** Addresses of a load balancer that are not written as usual. */
export const ingressWarnings = (ingress: readonly { readonly ip?: string | undefined }[]): readonly string[] =>
  ingress.flatMap(({ ip }, index) => ipWarnings(ip, FieldPath.of('status', 'loadBalancer', 'ingress').index(index)))

/** What is allowed but has no effect (api/service GetWarningsForService). */
export function serviceWarnings({ spec, metadata }: Service): readonly string[] {
  const { type, externalIPs = [], externalName, loadBalancerIP, sessionAffinity } = spec
  const warnings: string[] = []
  if (metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] !== undefined) {
    warnings.push(
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    )
  }
  const isIpOf = ([ip = '']: readonly string[] = []) => ip !== '' && ip !== noClusterIp
  if (isIpOf(spec.clusterIPs)) warnings.push(...ipListWarnings(spec.clusterIPs, specPath.field('clusterIPs')))
  if (isHeadless(spec)) {
    if (loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services')
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services')
    if (sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services')
  }
  warnings.push(...ipListWarnings(externalIPs, specPath.field('externalIPs')))
  if (externalIPs.length > 0 && !isHeadless(spec) && type !== 'ExternalName') {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  }
  warnings.push(
    ...ipWarnings(loadBalancerIP, specPath.field('loadBalancerIP')),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((cidr, index) =>
      cidrWarnings(cidr, specPath.field('loadBalancerSourceRanges').index(index)),
    ),
  )
  if (type === 'ExternalName' && externalIPs.length > 0) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  }
  if (type !== 'ExternalName' && externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  }
  if (spec.trafficDistribution === 'PreferClose') {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  }
  return warnings
}

const ipListWarnings = (ips: readonly string[] = [], path: FieldPath): readonly string[] =>
  ips.flatMap((ip, index) => ipWarnings(ip, path.index(index)))
