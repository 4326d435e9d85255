import { formatSelector, type NetworkPolicy, type NetworkPolicyPeer, type NetworkPolicyPort } from '@coracle/api'
import { Description } from './description.ts'
import { formatGoTime } from './local-time.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'

/** A NetworkPolicy in detail (kubectl's describeNetworkPolicy). */
export function describeNetworkPolicy({ metadata, spec }: NetworkPolicy): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.field(0, 'Created on', metadata.creationTimestamp === undefined ? '' : formatGoTime(metadata.creationTimestamp))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.heading(0, 'Spec')
  const selector = formatSelector(spec?.podSelector)
  const isForAll = selector === '<none>'
  text.line(
    1,
    `PodSelector:     ${isForAll ? '<none> (Allowing the specific traffic to all pods in this namespace)' : selector}`,
  )
  const types = spec?.policyTypes ?? []
  if (types.includes('Ingress')) {
    text.heading(1, 'Allowing ingress traffic')
    describeRules(
      text,
      ingress,
      (spec?.ingress ?? []).map(({ ports, from }) => ({ ports, peers: from })),
    )
  } else text.line(1, 'Not affecting ingress traffic')
  if (types.includes('Egress')) {
    text.heading(1, 'Allowing egress traffic')
    describeRules(
      text,
      egress,
      (spec?.egress ?? []).map(({ ports, to }) => ({ ports, peers: to })),
    )
  } else text.line(1, 'Not affecting egress traffic')
  text.line(1, `Policy Types: ${types.join(', ') || '<none>'}`)
  return text.toString()
}

/** What the two directions differ in. */
const ingress = { name: 'ingress', peers: 'From', end: 'source' } as const
const egress = { name: 'egress', peers: 'To', end: 'destination' } as const

interface Rule {
  readonly ports: readonly NetworkPolicyPort[] | undefined
  readonly peers: readonly NetworkPolicyPeer[] | undefined
}

function describeRules(text: Description, direction: typeof ingress | typeof egress, rules: readonly Rule[]): void {
  if (rules.length === 0) text.line(2, `<none> (Selected pods are isolated for ${direction.name} connectivity)`)
  for (const [index, { ports = [], peers = [] }] of rules.entries()) {
    if (index > 0) text.line(2, '----------')
    if (ports.length === 0) text.line(2, 'To Port: <any> (traffic allowed to all ports)')
    for (const port of ports) text.line(2, portText(port))
    if (peers.length === 0) text.line(2, `${direction.peers}: <any> (traffic not restricted by ${direction.end})`)
    for (const peer of peers) describePeer(text.heading(2, direction.peers), peer)
  }
}

function portText({ port, endPort, protocol = 'TCP' }: NetworkPolicyPort): string {
  if (endPort !== undefined) return `To Port Range: ${port ?? '<nil>'}-${endPort}/${protocol}`
  return `To Port: ${port ?? '<nil>'}/${protocol}`
}

function describePeer(text: Description, { namespaceSelector, podSelector, ipBlock }: NetworkPolicyPeer): void {
  if (namespaceSelector !== undefined) text.line(3, `NamespaceSelector: ${formatSelector(namespaceSelector)}`)
  if (podSelector !== undefined) text.line(3, `PodSelector: ${formatSelector(podSelector)}`)
  if (namespaceSelector !== undefined || podSelector !== undefined || ipBlock === undefined) return
  text
    .heading(3, 'IPBlock')
    .line(4, `CIDR: ${ipBlock.cidr}`)
    .line(4, `Except: ${(ipBlock.except ?? []).join(', ')}`)
}
