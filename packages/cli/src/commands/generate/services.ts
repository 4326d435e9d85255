import { checkFormat, isJsonObject, type KubernetesObject, type LabelSelector, rangeMessage } from '@coracle/api'
import { CliError, UsageError } from '../../cli-error.ts'

export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'

export interface ServiceFlags {
  /** `PORT` or `PORT:TARGET` */
  readonly tcp: readonly string[]
  readonly clusterip?: string
  readonly nodePort?: number
  readonly externalName?: string
}

/** A Service for the pods labelled `app: NAME`. */
export function generateService(name: string, type: ServiceType, flags: ServiceFlags): KubernetesObject {
  const { tcp, clusterip, nodePort, externalName } = flags
  const isHeadless = clusterip === 'None'
  if (tcp.length === 0 && !isHeadless && type !== 'ExternalName') {
    throw new CliError('at least one tcp port specifier must be provided')
  }
  if (type === 'ExternalName' && checkFormat('dns1123-subdomain', externalName ?? '').length > 0) {
    throw new CliError(`invalid service external name ${externalName ?? ''}`)
  }
  const ports = tcp.map((text) => portOf(text, nodePort))
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: { app: name } },
    ...{
      spec: {
        ...(clusterip === undefined ? {} : { clusterIP: clusterip }),
        ...(externalName === undefined ? {} : { externalName }),
        ...(ports.length === 0 ? {} : { ports }),
        selector: { app: name },
        type,
      },
      status: { loadBalancer: {} },
    },
  }
}

function portOf(text: string, nodePort: number | undefined) {
  // What follows a second colon is part of the name alone.
  const [port = '', target] = text.split(':')
  const number = portNumber(port)
  return {
    name: text.replaceAll(':', '-'),
    // The API has 32 bits for it, and kubectl the rest of them cut off.
    ...(nodePort === undefined || nodePort === 0 ? {} : { nodePort: nodePort | 0 }),
    port: number,
    protocol: 'TCP',
    targetPort: target === undefined ? number : targetPortOf(target),
  }
}

/** The number or the name of a port of pods. Throws a CliError for what is neither. */
function targetPortOf(text: string): number | string {
  const isNumber = /^[-+]?\d+$/.test(text)
  const isPort = Number(text) >= 1 && Number(text) <= portMax
  const problems = !isNumber ? checkFormat('iana-service-name', text) : isPort ? [] : [rangeMessage(1, portMax)]
  if (problems.length > 0) throw new CliError(problems.join(','))
  return isNumber ? Number(text) : text
}

const portMax = 65_535

/** A port, in kubectl's words where it is none. Whether it can be had is for the server to say. */
function portNumber(text: string): number {
  const parsing = `strconv.ParseUint: parsing ${JSON.stringify(text)}`
  if (!/^\d+$/.test(text)) throw new CliError(`${parsing}: invalid syntax`)
  if (Number(text) > portMax) throw new CliError(`${parsing}: value out of range`)
  return Number(text)
}

/** The same for `expose`, which takes any number, and keeps the 32 bits of it that the API has room for. */
function exposedPort(text: string): number {
  const refusal = (why: string) => new CliError(`strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`)
  if (!/^[-+]?\d+$/.test(text)) throw refusal('invalid syntax')
  const number = BigInt(text.replace('+', ''))
  if (number !== BigInt.asIntN(64, number)) throw refusal('value out of range')
  return Number(BigInt.asIntN(32, number))
}

/** A port of pods by its number where that has room in 32 bits, or else by its name. */
function exposedTarget(text: string): number | string {
  const number = Number(text)
  return /^[-+]?\d+$/.test(text) && number === (number | 0) ? number : text
}

export interface ExposeFlags {
  /** `80` or `80,443`; absent: as the object's containers or ports say. */
  readonly port?: string
  readonly targetPort?: string
  readonly name?: string
  readonly type?: string
  readonly protocol?: string
  /** Absent: the object's. */
  readonly selector?: string
  readonly clusterIp?: string
  readonly externalIp?: string
  readonly loadBalancerIp?: string
  readonly sessionAffinity?: string
  readonly labels?: string
}

/** A Service in front of what an object selects. Throws a CliError where it selects nothing, or no port is known. */
export function exposeObject(object: KubernetesObject, flags: ExposeFlags): KubernetesObject {
  const { kind, metadata } = object
  // A name that was asked for stays as it is: the server says what is wrong with it.
  const name = flags.name || (metadata.name ?? '').slice(0, 63)
  requireExposable(object)
  const selector = flags.selector === undefined ? selectorOf(object) : parsePairs(flags.selector)
  const ports = portsOf(object, flags)
  if (ports.length === 0 && flags.clusterIp !== 'None') {
    throw new UsageError("couldn't find port via --port flag or introspection")
  }
  if (Object.keys(selector).length === 0) throw new CliError('selector must be specified')
  const labels = (flags.labels ?? '') === '' ? metadata.labels : parsePairs(flags.labels ?? '')
  const { type, clusterIp, externalIp, loadBalancerIp, sessionAffinity } = flags
  if (sessionAffinity !== undefined && !['None', 'ClientIP'].includes(sessionAffinity)) {
    throw new CliError(`unknown session affinity: ${sessionAffinity}`)
  }
  if (kind === '') throw new CliError('the object has no kind')
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    ...{
      spec: {
        ...(clusterIp === undefined ? {} : { clusterIP: clusterIp }),
        ...(externalIp === undefined ? {} : { externalIPs: [externalIp] }),
        ...(loadBalancerIp === undefined || type !== 'LoadBalancer' ? {} : { loadBalancerIP: loadBalancerIp }),
        ...(ports.length === 0 ? {} : { ports }),
        selector,
        ...(sessionAffinity === undefined ? {} : { sessionAffinity }),
        ...(type === undefined ? {} : { type }),
      },
      status: { loadBalancer: {} },
    },
  }
}

/** Throws a CliError, in kubectl's words, for kinds that stand for no pods. */
function requireExposable({ apiVersion, kind }: KubernetesObject): void {
  if (['Pod', 'Service', 'ReplicationController', 'ReplicaSet', 'Deployment'].includes(kind)) return
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  throw new CliError(`cannot expose a ${kind}${group === '' ? '' : `.${group}`}`)
}

/** The labels that find the pods of an object; none where it has an empty selector. Throws a CliError, in kubectl's words, where they are not known. */
function selectorOf(object: KubernetesObject): Readonly<Record<string, string>> {
  const refusal = (why: string) =>
    new CliError(`couldn't retrieve selectors via --selector flag or introspection: ${why}`)
  const { kind, metadata } = object
  if (kind === 'Pod') {
    if (Object.keys(metadata.labels ?? {}).length > 0) return metadata.labels ?? {}
    throw refusal('the pod has no labels and cannot be exposed')
  }
  const selector = (object as SelectingObject).spec?.selector ?? undefined
  if (kind === 'ReplicationController') return (selector ?? {}) as Readonly<Record<string, string>>
  if (kind === 'Service') {
    if (selector !== undefined) return selector as Readonly<Record<string, string>>
    throw refusal('the service has no pod selector set')
  }
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  if (Object.keys(matchLabels).length === 0) {
    throw refusal(`invalid ${kind.toLowerCase()}: no selectors, therefore cannot be exposed`)
  }
  if (matchExpressions.length > 0) {
    throw refusal(
      `couldn't convert expressions - "[${matchExpressions.map(goText).join(' ')}]" to map-based selector format`,
    )
  }
  return matchLabels
}

interface SelectingObject extends KubernetesObject {
  readonly spec?: { readonly selector?: LabelSelector | null }
}

/** A requirement as Go shows one. */
const goText = ({ key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number]): string =>
  `{Key:${key} Operator:${operator} Values:[${values.join(' ')}]}`

function parsePairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', value, ...more] = pair.split('=')
      if (value === undefined || more.length > 0) throw new CliError(`unexpected label spec: ${pair}`)
      if (key === '') throw new CliError('unexpected empty label key')
      return [key, value] as const
    }),
  )
}

interface Port {
  readonly port: number
  readonly protocol: string
  readonly targetPort: number | string
  readonly name?: string
}

/** A port with several protocols is as many ports, unless one is asked for. */
function portsOf(object: KubernetesObject, { port, targetPort, protocol }: ExposeFlags): readonly Port[] {
  const known = knownPorts(object)
  const texts = port === undefined ? [...known.keys()] : port.split(',')
  return texts.flatMap((text, index) => {
    const number = exposedPort(text)
    const target = targetPort === undefined ? number : exposedTarget(targetPort)
    const protocols = protocol ? [protocol] : [...(known.get(text) ?? ['TCP'])]
    const name = `port-${index + 1}`
    return protocols.map((each) => ({
      ...(protocols.length > 1 ? { name: `${name}-${each.toLowerCase()}` } : texts.length > 1 ? { name } : {}),
      port: number,
      protocol: each,
      targetPort: target,
    }))
  })
}

/** The ports that the object itself, or its containers, name, with their protocols. */
function knownPorts(object: KubernetesObject): ReadonlyMap<string, ReadonlySet<string>> {
  const spec = 'spec' in object && isJsonObject(object.spec) ? object.spec : {}
  const template = isJsonObject(spec.template) && isJsonObject(spec.template.spec) ? spec.template.spec : spec
  const ports =
    object.kind === 'Service'
      ? listOf(spec.ports).map(({ port, protocol }) => [port, protocol])
      : listOf(template.containers).flatMap((container) =>
          listOf(container.ports).map(({ containerPort, protocol }) => [containerPort, protocol]),
        )
  const known = new Map<string, Set<string>>()
  for (const [port, protocol] of ports) {
    if (typeof port !== 'number') continue
    const protocols = known.get(String(port)) ?? new Set()
    known.set(String(port), protocols.add(String(protocol ?? 'TCP')))
  }
  return known
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : [])
