import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { parseCidr, rangeContains } from '../../ip.ts'
import { formatSelector } from '../../selectors.ts'
import { cidrWarnings } from '../address-warnings.ts'
import { checkCidr, checkStrictCidr } from '../addresses.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { checkLabelSelector, checkPort, checkPortNumber } from '../core/pod/validation/checks.ts'
import { kind } from '../kind.ts'
import {
  type IpBlock,
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
  networkPolicySchema,
} from './network-policy-schema.ts'

/** `networking.k8s.io/v1` networkpolicies. */
export const networkPolicies = kind<NetworkPolicy>(networkPolicySchema, {
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  columns: [
    nameColumn,
    column('Pod-Selector', ({ spec }) => formatSelector(spec?.podSelector), { field: 'spec.podSelector' }),
    ageColumn,
  ],
  countsGenerations: true,
  defaults: withPolicyTypes,
  validate,
  validateCreate: (policy) => rangeErrors(policy),
  validateUpdate: (policy, old) => rangeErrors(policy, new Set(rangesOf(old).map(({ cidr }) => cidr))),
  warnings: (policy) => rangesOf(policy).flatMap(({ cidr, path }) => cidrWarnings(cidr, path)),
})

interface PlacedRange {
  readonly cidr: string
  readonly path: FieldPath
}

/** The ranges of a policy, those that are left out of others among them. */
function rangesOf({ spec = {} }: NetworkPolicy): readonly PlacedRange[] {
  const ofPeers = (peers: readonly NetworkPolicyPeer[] = [], path: FieldPath): readonly PlacedRange[] =>
    peers.flatMap(({ ipBlock }, index) => {
      if (ipBlock === undefined) return []
      const at = path.index(index).field('ipBlock')
      const { cidr = '', except = [] } = ipBlock
      const left = except.map((each, position) => ({ cidr: each, path: at.field('except').index(position) }))
      return [{ cidr, path: at.field('cidr') }, ...left]
    })
  return [
    ...(spec.ingress ?? []).flatMap(({ from }, index) =>
      ofPeers(from, specPath.field('ingress').index(index).field('from')),
    ),
    ...(spec.egress ?? []).flatMap(({ to }, index) => ofPeers(to, specPath.field('egress').index(index).field('to'))),
  ]
}

/** Ranges that are not written as such. Those that were there `before` may stay, and what is no range at all is told for every policy. */
function rangeErrors(policy: NetworkPolicy, before: ReadonlySet<string> = new Set()): readonly FieldError[] {
  return rangesOf(policy).flatMap(({ cidr, path }) =>
    parseCidr(cidr) === undefined || before.has(cidr) ? [] : checkStrictCidr(cidr, path),
  )
}

/** A policy is about connections to pods, and about those from them where it has rules for them. */
function withPolicyTypes(policy: NetworkPolicy): NetworkPolicy {
  const { policyTypes = [], egress = [] } = policy.spec ?? {}
  if (policyTypes.length > 0) return policy
  return { ...policy, spec: { ...policy.spec, policyTypes: egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'] } }
}

const specPath = FieldPath.of('spec')
const directions = ['Ingress', 'Egress']

function validate({ spec = {} }: NetworkPolicy): readonly FieldError[] {
  const { policyTypes = [] } = spec
  const typesPath = specPath.field('policyTypes')
  return [
    ...checkLabelSelector(spec.podSelector, specPath.field('podSelector')),
    ...(spec.ingress ?? []).flatMap(({ ports, from }, index) =>
      validateRule(ports, from, 'from', specPath.field('ingress').index(index)),
    ),
    ...(spec.egress ?? []).flatMap(({ ports, to }, index) =>
      validateRule(ports, to, 'to', specPath.field('egress').index(index)),
    ),
    ...(policyTypes.length > directions.length
      ? [invalidField(typesPath, policyTypes, 'may not specify more than two policyTypes')]
      : policyTypes.flatMap((type, index) =>
          directions.includes(type) ? [] : [unsupportedField(typesPath.index(index), type, directions)],
        )),
  ]
}

function validateRule(
  ports: readonly NetworkPolicyPort[] = [],
  peers: readonly NetworkPolicyPeer[] = [],
  peersField: 'from' | 'to',
  path: FieldPath,
): readonly FieldError[] {
  return [
    ...ports.flatMap((port, index) => validatePort(port, path.field('ports').index(index))),
    ...peers.flatMap((peer, index) => validatePeer(peer, path.field(peersField).index(index))),
  ]
}

const protocols = ['TCP', 'UDP', 'SCTP']

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: FieldPath): readonly FieldError[] {
  const endPath = path.field('endPort')
  return [
    ...(protocol === undefined || protocols.includes(protocol)
      ? []
      : [unsupportedField(path.field('protocol'), protocol, protocols)]),
    ...(port === undefined ? [] : checkPort(port, path.field('port'))),
    ...(endPort === undefined ? [] : validateEndPort(port, endPort, endPath)),
  ]
}

function validateEndPort(port: number | string | undefined, endPort: number, path: FieldPath): readonly FieldError[] {
  if (port === undefined) return [invalidField(path, endPort, 'may not be specified when `port` is not specified')]
  if (typeof port === 'string') return [invalidField(path, endPort, 'may not be specified when `port` is non-numeric')]
  const errors = endPort < port ? [invalidField(path, port, 'must be greater than or equal to `port`')] : []
  return [...errors, ...checkPortNumber(endPort, path)]
}

function validatePeer(peer: NetworkPolicyPeer, path: FieldPath): readonly FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer
  const count = [podSelector, namespaceSelector, ipBlock].filter((each) => each !== undefined).length
  return [
    ...checkLabelSelector(podSelector, path.field('podSelector')),
    ...checkLabelSelector(namespaceSelector, path.field('namespaceSelector')),
    ...(ipBlock === undefined ? [] : validateIpBlock(ipBlock, path.field('ipBlock'))),
    ...(count === 0 ? [requiredField(path, 'must specify a peer')] : []),
    ...(count > 1 && ipBlock !== undefined
      ? [forbiddenField(path, 'may not specify both ipBlock and another peer')]
      : []),
  ]
}

function validateIpBlock({ cidr = '', except = [] }: IpBlock, path: FieldPath): readonly FieldError[] {
  if (cidr === '') return []
  const range = parseCidr(cidr)
  if (range === undefined) return checkCidr(cidr, path.field('cidr'))
  return except.flatMap((text, index) => {
    const at = path.field('except').index(index)
    const part = parseCidr(text)
    if (part === undefined) return checkCidr(text, at)
    const isWithin = rangeContains(range, { family: part.family, value: part.base })
    if (isWithin && part.prefixLength > range.prefixLength) return []
    return [invalidField(at, text, 'must be a strict subset of `cidr`')]
  })
}
