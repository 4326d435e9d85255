import { checkFormat, isJsonObject, type KubernetesObject, type LabelSelector, rangeMessage } from '@coracle/api'
import { CliError, UsageError } from '../../cli-error.ts'
import { selectorText } from '../../resources/selector-text.ts'

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
    ...(nodePort === undefined || nodePort === 0 ? {} : { nodePort }),
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

/** The same for `expose`, which takes any number. */
function exposedPort(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) throw new CliError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
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

/** The labels that find the pods of an object. */
function selectorOf(object: KubernetesObject): Readonly<Record<string, string>> {
  const { kind, metadata } = object
  if (kind === 'Pod') {
    if (Object.keys(metadata.labels ?? {}).length === 0) {
      throw new CliError(
        "couldn't retrieve selectors via --selector flag or introspection: the pod has no labels and cannot be exposed",
      )
    }
    return metadata.labels ?? {}
  }
  const text = selectorText(object)
  if (text === undefined && kind === 'Service') {
    throw new CliError(
      "couldn't retrieve selectors via --selector flag or introspection: the service has no pod selector set",
    )
  }
  if (text === undefined) {
    throw new CliError(
      `couldn't retrieve selectors via --selector flag or introspection: invalid ${kind.toLowerCase()}: no selectors, therefore cannot be exposed`,
    )
  }
  const { matchExpressions = [] } = (object as SelectingObject).spec?.selector ?? {}
  if (Array.isArray(matchExpressions) && matchExpressions.length > 0) {
    throw new CliError(
      `couldn't retrieve selectors via --selector flag or introspection: couldn't convert expressions - "[${matchExpressions.map(goText).join(' ')}]" to map-based selector format`,
    )
  }
  return parsePairs(text)
}

interface SelectingObject extends KubernetesObject {
  readonly spec?: { readonly selector?: Pick<LabelSelector, 'matchExpressions'> }
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

function portsOf(object: KubernetesObject, { port, targetPort, protocol }: ExposeFlags): readonly Port[] {
  const known = knownPorts(object)
  const numbers = port === undefined ? known.map((each) => each.port) : port.split(',').map(exposedPort)
  return numbers.map((number, index) => {
    const like = known.find((each) => each.port === number)
    const target = targetPort === undefined ? number : /^\d+$/.test(targetPort) ? exposedPort(targetPort) : targetPort
    return {
      ...(numbers.length > 1 ? { name: `port-${index + 1}` } : {}),
      port: number,
      protocol: protocol || like?.protocol || 'TCP',
      targetPort: target,
    }
  })
}

/** The ports that the object itself, or its containers, name. */
function knownPorts(object: KubernetesObject): readonly { readonly port: number; readonly protocol: string }[] {
  const spec = 'spec' in object && isJsonObject(object.spec) ? object.spec : {}
  if (object.kind === 'Service') {
    return listOf(spec.ports).flatMap(({ port, protocol = 'TCP' }) =>
      typeof port === 'number' ? [{ port, protocol: String(protocol) }] : [],
    )
  }
  const template = isJsonObject(spec.template) && isJsonObject(spec.template.spec) ? spec.template.spec : spec
  return listOf(template.containers).flatMap(({ ports }) =>
    listOf(ports).flatMap(({ containerPort, protocol = 'TCP' }) =>
      typeof containerPort === 'number' ? [{ port: containerPort, protocol: String(protocol) }] : [],
    ),
  )
}

const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : [])
