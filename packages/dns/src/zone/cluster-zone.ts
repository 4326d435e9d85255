import { formatIp, noClusterIp, parseIp, type Service } from '@coracle/api'
import { rcodes, types } from '../wire/numbers.ts'
import type { DnsRecord, RecordData } from '../wire/records.ts'
import { addressesOf, type ClusterView, endpointName, shownEndpoints } from './cluster-view.ts'
import { reverseName } from './reverse-name.ts'

/** The version of the specification that answers follow (kubernetes/dns, docs/specification.md). */
export const schemaVersion = '1.1.0'
/** How long answers are good for, in seconds, as kubeadm has CoreDNS say it. */
export const answerTtl = 30
/** Names that lead to other names, one after the other. */
const aliasesMax = 7
const labelMax = 63
const nameMax = 253

/** What a zone says to a question. */
export interface ZoneAnswer {
  readonly rcode: number
  readonly answers: readonly DnsRecord[]
  readonly additional: readonly DnsRecord[]
  /** A name outside the zone that the answer leads to: whoever asks wants its records, too. */
  readonly continuesAt?: string
}

export interface Zone {
  /** In lower case, no dot at its end: `cluster.local`. */
  readonly domain: string
  readonly view: ClusterView
  /** The addresses of the service by which pods reach who answers. */
  readonly serverAddresses: () => readonly string[]
}

const nothing: ZoneAnswer = { rcode: rcodes.noError, answers: [], additional: [] }
const unknown: ZoneAnswer = { rcode: rcodes.nameError, answers: [], additional: [] }
const answered = (answers: readonly DnsRecord[], additional: readonly DnsRecord[] = []): ZoneAnswer => ({
  rcode: rcodes.noError,
  answers,
  additional,
})

/**
 * What the names of a cluster stand for, by the specification "Kubernetes DNS-Based Service Discovery" and, where that is silent, as CoreDNS'
 * `kubernetes` plugin has it with `pods insecure`. `name` is in lower case. Undefined: it is no name of the cluster, and others may know it.
 */
export function zoneAnswer(zone: Zone, name: string, type: number): ZoneAnswer | undefined {
  const address = reverseName(name)
  if (address !== undefined) return pointerAnswer(zone, name, address, type)
  if (!isBelow(name, zone.domain)) return undefined
  const answers: DnsRecord[] = []
  const visited = new Set<string>()
  for (let at = name; ; ) {
    visited.add(at)
    const found = ownAnswer(zone, at, type)
    answers.push(...found.answers)
    const [alias] = found.answers
    if (alias?.type !== 'CNAME' || type === types.CNAME) return { ...found, answers }
    if (!isBelow(alias.target, zone.domain)) return { ...answered(answers), continuesAt: alias.target }
    if (visited.has(alias.target) || visited.size > aliasesMax) return answered(answers)
    at = alias.target
  }
}

const isBelow = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/** The record that says who speaks for the zone, and for how long it is good that something is not there. */
export const soaRecord = (domain: string, serial: number): DnsRecord => ({
  name: domain,
  ttl: answerTtl,
  type: 'SOA',
  primary: `ns.dns.${domain}`,
  mailbox: `hostmaster.${domain}`,
  serial,
})

function ownAnswer(zone: Zone, name: string, type: number): ZoneAnswer {
  const { domain, view } = zone
  const record = (data: RecordData): DnsRecord => ({ name, ttl: answerTtl, ...data })
  const addresses = (list: Iterable<string>): ZoneAnswer => answered(addressRecords(name, list, type))
  const labels = name === domain ? [] : name.slice(0, -domain.length - 1).split('.')
  const kind = labels.pop()
  switch (kind) {
    case undefined:
      return type === types.NS ? answered([record({ type: 'NS', target: `ns.dns.${domain}` })]) : nothing
    case 'dns-version':
      if (labels.length > 0) return unknown
      return type === types.TXT ? answered([record({ type: 'TXT', text: schemaVersion })]) : nothing
    case 'dns':
      if (labels.length === 0) return nothing
      return labels.length === 1 && labels[0] === 'ns' ? addresses(zone.serverAddresses()) : unknown
    case 'svc':
    case 'pod':
      break
    default:
      return unknown
  }
  const namespace = labels.pop()
  if (namespace === undefined) return nothing
  if (!view.hasNamespace(namespace)) return unknown
  const owner = labels.pop()
  if (owner === undefined) return nothing
  if (kind === 'pod') {
    const address = labels.length === 0 ? podAddress(owner) : undefined
    return address === undefined ? unknown : addresses([address])
  }
  const service = view.service(namespace, owner)
  return service === undefined ? unknown : serviceAnswer({ zone, name, type, service, labels, namespace, owner })
}

/** `10-0-0-1` and `fd00--1`. */
function podAddress(name: string): string | undefined {
  const isIpv4 = /^\d+-\d+-\d+-\d+$/.test(name)
  const ip = parseIp(name.replaceAll('-', isIpv4 ? '.' : ':'))
  return ip && formatIp(ip)
}

interface ServiceQuestion {
  readonly zone: Zone
  readonly name: string
  readonly type: number
  readonly service: Service
  /** What stands before the name of the service. */
  readonly labels: readonly string[]
  readonly namespace: string
  readonly owner: string
}

function serviceAnswer(question: ServiceQuestion): ZoneAnswer {
  const { service, labels, name } = question
  const { type: kind, externalName = '' } = service.spec
  if (kind === 'ExternalName') {
    const target = externalName.toLowerCase().replace(/\.$/, '')
    if (labels.length > 0 || !isHostName(target)) return unknown
    return answered([{ name, ttl: answerTtl, type: 'CNAME', target }])
  }
  switch (labels.length) {
    case 0:
      return targetsAnswer(question, targetsOf(question, {}))
    case 1: {
      const [label = ''] = labels
      if (label.startsWith('_')) {
        // A name that nothing stands at but what stands below it.
        return targetsOf(question, { protocol: label.slice(1) }).length === 0 ? unknown : nothing
      }
      return targetsAnswer(question, targetsOf(question, { endpoint: label }))
    }
    case 2: {
      const [port = '', protocol = ''] = labels.map((label) => label.replace(/^_/, ''))
      return targetsAnswer(question, targetsOf(question, { port, protocol }))
    }
    default:
      return unknown
  }
}

/** A name that leads elsewhere: no address, and one that fits into a message. */
const isHostName = (name: string): boolean =>
  name !== '' &&
  name.length <= nameMax &&
  parseIp(name) === undefined &&
  name.split('.').every((label) => label !== '' && label.length <= labelMax)

/** An address and port that a name of a service stands for. */
interface Target {
  readonly address: string
  /** Undefined: there is none to tell. */
  readonly port: number | undefined
  /** What has this address alone. */
  readonly name: string
}

interface Wanted {
  readonly endpoint?: string
  readonly port?: string
  readonly protocol?: string
}

interface Port {
  readonly name?: string | undefined
  readonly protocol?: string | undefined
  readonly port?: number | undefined
}

/** Endpoints without ports have names as well. */
const noPorts: readonly Port[] = [{}]

const wantedPorts = (ports: readonly Port[] | undefined, { port, protocol }: Wanted): readonly Port[] =>
  (ports === undefined || ports.length === 0 ? noPorts : ports).filter(
    (each) =>
      (port === undefined || port === (each.name ?? '').toLowerCase()) &&
      (protocol === undefined || protocol === (each.protocol ?? 'TCP').toLowerCase()),
  )

function targetsOf({ zone, service: { spec }, namespace, owner }: ServiceQuestion, wanted: Wanted): readonly Target[] {
  const base = `${owner}.${namespace}.svc.${zone.domain}`
  const isHeadless = spec.clusterIP === noClusterIp
  if (!isHeadless && wanted.endpoint === undefined) {
    return wantedPorts(spec.ports, wanted).flatMap(({ port }) =>
      addressesOf(spec).map((address) => ({ address, port, name: base })),
    )
  }
  const { view } = zone
  const slices =
    wanted.endpoint === undefined ? view.slices(namespace, owner) : view.slicesWith(namespace, owner, wanted.endpoint)
  const targets: Target[] = []
  for (const slice of slices) {
    const shownPorts = wantedPorts(slice.ports, wanted)
    for (const [endpoint, address] of shownEndpoints(slice)) {
      const label = endpointName(endpoint, address)
      if (wanted.endpoint !== undefined && wanted.endpoint !== label) continue
      for (const { port } of shownPorts) targets.push({ address, port: toldPort(port), name: `${label}.${base}` })
    }
  }
  return targets
}

/** A slice may have any number, as the API takes it: one that is no port cannot be written. */
const toldPort = (port: number | undefined): number | undefined =>
  port !== undefined && port >= 0 && port <= 0xffff ? port : undefined

function targetsAnswer({ name, type }: ServiceQuestion, targets: readonly Target[]): ZoneAnswer {
  if (targets.length === 0) return unknown
  if (type === types.SRV) return servicesAnswer(name, targets)
  return answered(
    addressRecords(
      name,
      targets.map(({ address }) => address),
      type,
    ),
  )
}

function addressRecords(name: string, addresses: Iterable<string>, type: number): readonly DnsRecord[] {
  if (type !== types.A && type !== types.AAAA) return []
  return [...new Set(addresses)]
    .map((address) => addressRecord(name, address))
    .filter((record) => types[record.type] === type)
}

const addressRecord = (name: string, address: string): DnsRecord & { readonly type: 'A' | 'AAAA' } => ({
  name,
  ttl: answerTtl,
  type: address.includes(':') ? 'AAAA' : 'A',
  address,
})

/** All are as good as each other: weights add up to about a hundred. */
function servicesAnswer(name: string, targets: readonly Target[]): ZoneAnswer {
  const services = new Map<string, Target & { readonly port: number }>()
  const addresses = new Map<string, DnsRecord>()
  for (const { port, ...target } of targets) {
    if (port === undefined) continue
    services.set(`${target.name} ${port}`, { ...target, port })
    addresses.set(`${target.name} ${target.address}`, addressRecord(target.name, target.address))
  }
  const weight = Math.max(Math.floor(100 / Math.max(services.size, 1)), 1)
  const records = [...services.values()].map(
    ({ port, name: target }): DnsRecord => ({
      name,
      ttl: answerTtl,
      type: 'SRV',
      priority: 0,
      weight,
      port,
      target,
    }),
  )
  return answered(records, [...addresses.values()])
}

/** The names of an address: of a service, or else of endpoints that have names. Addresses of others are theirs to know. */
function pointerAnswer({ domain, view }: Zone, name: string, address: string, type: number): ZoneAnswer | undefined {
  const names = new Set<string>()
  const [service] = view.servicesAt(address)
  if (service !== undefined) {
    const { metadata } = service
    names.add(`${metadata.name}.${metadata.namespace}.svc.${domain}`)
  }
  const slices = service === undefined ? view.slicesAt(address) : []
  for (const slice of slices) {
    const { labels, namespace } = slice.metadata
    const owner = labels?.['kubernetes.io/service-name']
    for (const [{ hostname = '' }, each] of shownEndpoints(slice)) {
      if (hostname !== '' && isSame(each, address)) names.add(`${hostname}.${owner}.${namespace}.svc.${domain}`)
    }
  }
  if (names.size === 0) return undefined
  if (type !== types.PTR) return nothing
  return answered([...names].map((target) => ({ name, ttl: answerTtl, type: 'PTR', target })))
}

function isSame(one: string, canonical: string): boolean {
  if (one === canonical) return true
  const ip = one.includes(':') ? parseIp(one) : undefined
  return ip !== undefined && formatIp(ip) === canonical
}
