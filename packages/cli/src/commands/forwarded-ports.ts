import type { Container, KubernetesObject, Pod, Service } from '@coracle/api'
import { CliError } from '../cli-error.ts'

/** A local port, 0 for any that is free, and the port of the pod that is behind it. */
export interface ForwardedPort {
  readonly local: number
  readonly remote: number
}

/**
 * Ports as arguments have them, with the numbers of the pod's ports in the place of names, and of ports of the service that is named.
 * Throws a CliError, in kubectl's words, where one does not have such a port, or it is one of UDP.
 */
export function translatePorts(texts: readonly string[], owner: KubernetesObject, pod: Pod): readonly string[] {
  const service = owner.kind === 'Service' ? (owner as Service) : undefined
  const ports = texts.map(splitPort)
  const udp = udpPorts(service === undefined ? portsOf(pod.spec.containers) : servicePorts(service))
  for (const { remote } of ports) {
    const number =
      numberOf(remote) ?? (service === undefined ? namedPort(pod, remote) : namedServicePort(service, remote))
    if (udp.has(number)) throw new CliError(`UDP protocol is not supported for ${remote}`)
  }
  return ports.map(({ local, remote }) => {
    if (service !== undefined) return throughService(service, pod, local, remote)
    if (remote === '') throw new CliError('remote port cannot be empty')
    const number = numberOf(remote) === undefined ? String(namedPort(pod, remote)) : remote
    return local === remote ? number : `${local}:${number}`
  })
}

/** `80`, `8080:80` or `:80`. Throws a CliError for what is none. */
export function parsePort(text: string): ForwardedPort {
  const [localText = '', remoteText = localText, ...more] = text.split(':')
  if (more.length > 0) throw new CliError(`invalid port format '${text}'`)
  const isAny = localText === '' && text.includes(':')
  const local = isAny ? 0 : portNumber(localText, 'local')
  const remote = portNumber(remoteText, 'remote')
  if (remote === 0) throw new CliError('remote port must be > 0')
  return { local, remote }
}

function throughService(service: Service, pod: Pod, local: string, remote: string): string {
  const number = numberOf(remote) ?? namedServicePort(service, remote)
  const own = local === remote ? String(number) : local
  const target = String(containerPort(service, pod, number))
  return own === target ? target : `${own}:${target}`
}

/** The port of a pod behind that of a service. A service without an address of its own has nothing that translates. */
function containerPort(service: Service, pod: Pod, number: number): number {
  const found = (service.spec?.ports ?? []).find(({ port }) => port === number)
  if (found === undefined) {
    throw new CliError(`Service ${service.metadata.name} does not have a service port ${number}`)
  }
  if (service.spec?.clusterIP === 'None') return number
  const { targetPort = found.port } = found
  if (typeof targetPort !== 'number') return namedPort(pod, targetPort)
  return targetPort === 0 ? found.port : targetPort
}

function splitPort(text: string): { readonly local: string; readonly remote: string } {
  const [local = '', remote, ...more] = text.split(':')
  return remote === undefined || more.length > 0 ? { local, remote: local } : { local, remote }
}

const numberOf = (text: string): number | undefined => (/^[-+]?\d+$/.test(text) ? Number(text) : undefined)

interface NamedPort {
  readonly number: number
  readonly name?: string | undefined
  readonly protocol?: string | undefined
}

const servicePorts = ({ spec }: Service): readonly NamedPort[] =>
  (spec?.ports ?? []).map(({ port, ...rest }) => ({ number: port, ...rest }))

const portsOf = (containers: readonly Container[] = []): readonly NamedPort[] =>
  containers.flatMap(({ ports = [] }) => ports.map(({ containerPort: number, ...rest }) => ({ number, ...rest })))

/** Those that are ports of UDP and of nothing else. */
function udpPorts(ports: readonly NamedPort[]): ReadonlySet<number> {
  const of = (name: string) => ports.filter(({ protocol = 'TCP' }) => protocol === name).map(({ number }) => number)
  const tcp = of('TCP')
  return new Set(of('UDP').filter((number) => !tcp.includes(number)))
}

function namedPort({ metadata, spec }: Pod, wanted: string): number {
  const ports = [...portsOf(spec.containers), ...portsOf(spec.initContainers)]
  const found = ports.find(({ name = '' }) => name === wanted)
  if (found !== undefined) return found.number
  throw new CliError(`Pod '${metadata.name}' does not have a named port '${wanted}'`)
}

function namedServicePort(service: Service, wanted: string): number {
  const found = servicePorts(service).find(({ name = '' }) => name === wanted)
  if (found !== undefined) return found.number
  throw new CliError(`Service '${service.metadata.name}' does not have a named port '${wanted}'`)
}

function portNumber(text: string, side: 'local' | 'remote'): number {
  const refusal = (why: string) =>
    new CliError(`error parsing ${side} port '${text}': strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`)
  if (!/^\d+$/.test(text)) throw refusal('invalid syntax')
  const port = Number(text)
  if (port > 0xffff) throw refusal('value out of range')
  return port
}
