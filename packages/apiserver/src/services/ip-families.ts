import {
  deepEqual,
  type FieldError,
  FieldPath,
  invalid,
  invalidField,
  isHeadless,
  noClusterIp,
  parseIp,
  type Service,
  type ServiceSpec,
  services,
} from '@coracle/api'

export type Family = 'IPv4' | 'IPv6'

const specPath = FieldPath.of('spec')
const policyPath = specPath.field('ipFamilyPolicy')

/**
 * A service that has an address, or says that it has none, with the policy and the families that follow from what it says, from what it was
 * and from the families that the cluster has addresses of, the usual one first (upstream's initIPFamilyFields). An address that its policy no
 * longer wants is gone. Throws an ApiError for families that it cannot have.
 */
export function withIpFamilies(service: Service, old: ServiceSpec | undefined, available: readonly Family[]): Service {
  const { spec } = service
  if (old !== undefined && isAsItWas(spec, old)) return service
  const isOpen = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0
  // A service that has both families loses one only where it is told to: a policy that is not said is the one before.
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? (isOpen ? 'RequireDualStack' : 'SingleStack')
  const asked: Asked = {
    ipFamilyPolicy,
    clusterIPs: spec.clusterIPs ?? [],
    ipFamilies: (spec.ipFamilies ?? []) as readonly Family[],
  }
  const wanted = old === undefined ? asked : afterUpdate(asked, old)
  refuse(service, [...(old === undefined ? [] : reductionErrors(asked, old)), ...countErrors(wanted)])
  const inferred = inferFamilies(service, wanted, available)
  const ipFamilies = isOpen
    ? openFamilies(inferred, ipFamilyPolicy, available)
    : closedFamilies(service, inferred, ipFamilyPolicy, available)
  if (ipFamilies.length === 0) return service
  const isTrimmed = wanted.clusterIPs.length < asked.clusterIPs.length
  const clusterIPs = isTrimmed ? { clusterIPs: wanted.clusterIPs } : {}
  return { ...service, spec: { ...spec, ...clusterIPs, ipFamilies, ipFamilyPolicy } }
}

interface Asked {
  readonly ipFamilyPolicy: NonNullable<ServiceSpec['ipFamilyPolicy']>
  readonly clusterIPs: readonly string[]
  readonly ipFamilies: readonly Family[]
}

/** A service that would like both families is not changed because the cluster has come to have them, or has lost one. */
function isAsItWas(spec: ServiceSpec, old: ServiceSpec): boolean {
  const isPreferred = spec.ipFamilyPolicy === 'PreferDualStack' && old.ipFamilyPolicy === 'PreferDualStack'
  return isPreferred && spec.type === old.type && sameClusterIps(spec, old) && sameFamilies(spec, old)
}

type Both = {
  readonly clusterIPs?: readonly string[] | undefined
  readonly ipFamilies?: readonly string[] | undefined
}
const sameClusterIps = (a: Both, b: Both): boolean => deepEqual(a.clusterIPs ?? [], b.clusterIPs ?? [])
const sameFamilies = (a: Both, b: Both): boolean => deepEqual(a.ipFamilies ?? [], b.ipFamilies ?? [])

/** With nothing else changed, the policy of one family means that the second one goes. */
function afterUpdate(asked: Asked, old: ServiceSpec): Asked {
  if (asked.ipFamilyPolicy !== 'SingleStack') return asked
  return {
    ...asked,
    clusterIPs: sameClusterIps(asked, old) ? asked.clusterIPs.slice(0, 1) : asked.clusterIPs,
    ipFamilies: sameFamilies(asked, old) ? asked.ipFamilies.slice(0, 1) : asked.ipFamilies,
  }
}

function reductionErrors({ ipFamilyPolicy, clusterIPs, ipFamilies }: Asked, old: ServiceSpec): readonly FieldError[] {
  if (ipFamilyPolicy === 'SingleStack') return []
  const error = (what: string, now: readonly string[], before: readonly string[] = []): readonly FieldError[] => {
    if (now.length === 0 || now.length >= before.length) return []
    return [invalidField(policyPath, ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)]
  }
  return [...error('cluster IP', clusterIPs, old.clusterIPs), ...error('IP family', ipFamilies, old.ipFamilies)]
}

function countErrors({ ipFamilyPolicy, clusterIPs, ipFamilies }: Asked): readonly FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return []
  const error = (what: string): FieldError => {
    const why = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
    return invalidField(policyPath, ipFamilyPolicy, why)
  }
  return [
    ...(clusterIPs.length === 2 ? [error('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [error('IP families')] : []),
  ]
}

/** The families that are named, and those of addresses beyond. */
function inferFamilies(service: Service, { clusterIPs, ipFamilies }: Asked, available: readonly Family[]) {
  const families = [...ipFamilies]
  const errors: FieldError[] = []
  for (const [index, ip] of clusterIPs.entries()) {
    const address = ip === noClusterIp ? undefined : parseIp(ip)
    if (address === undefined || index < families.length) continue
    const family: Family = address.family === 4 ? 'IPv4' : 'IPv6'
    if (available.length === 0 || available.includes(family)) families.push(family)
    else {
      const why = `${family} is not configured on this cluster`
      errors.push(invalidField(specPath.field('clusterIPs').index(index), clusterIPs, why))
    }
  }
  refuse(service, errors)
  return families
}

/** Those of a service without addresses and without a selector: anything may be behind it, of families that the cluster does not have. */
function openFamilies(
  named: readonly Family[],
  policy: Asked['ipFamilyPolicy'],
  [usual = 'IPv4']: readonly Family[],
): readonly Family[] {
  const [first = usual, ...rest] = named
  return rest.length > 0 || policy === 'SingleStack' ? [first, ...rest] : [first, otherThan(first)]
}

function closedFamilies(
  service: Service,
  named: readonly Family[],
  policy: Asked['ipFamilyPolicy'],
  available: readonly Family[],
): readonly Family[] {
  const [usual] = available
  const notDual = 'this cluster is not configured for dual-stack services'
  const isKnown = (family: Family): boolean => usual === undefined || available.includes(family)
  refuse(service, [
    ...(policy === 'RequireDualStack' && available.length < 2 ? [invalidField(policyPath, policy, notDual)] : []),
    ...named.flatMap((family, index) => {
      if (isKnown(family)) return []
      return [invalidField(specPath.field('ipFamilies').index(index), family, 'not configured on this cluster')]
    }),
  ])
  const [first = isHeadless(service.spec) ? (usual ?? 'IPv4') : usual, ...rest] = named
  if (first === undefined) return []
  if (policy === 'SingleStack' || rest.length > 0 || available.length < 2) return [first, ...rest]
  return [first, otherThan(first)]
}

const otherThan = (family: Family): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4')

function refuse({ metadata }: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(services, metadata.name ?? '', errors)
}
