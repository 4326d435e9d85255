import { isIP } from 'node:net'
import { badRequest, type Endpoints, type Pod, type Service, serviceUnavailable } from '@coracle/api'
import { parseProxiedName } from './proxied-name.ts'

/** The address and port of a pod that a request goes to. */
export interface PodLocation {
  readonly scheme: 'http' | 'https'
  /** As links name it: without the port where neither the request nor the pod names one. */
  readonly host: string
  readonly port: number
}

const portOfScheme = { http: 80, https: 443 } as const

/**
 * Where a request to a pod goes: to the port that it names, or the first that a container of the pod has (upstream's
 * registry/core/pod ResourceLocation). Throws a BadRequest for a pod without an address of its own.
 */
export function podLocation(id: string, pod: Pod): PodLocation {
  const { scheme, port } = parseProxiedName(id, 'pod')
  const chosen =
    port === '' ? pod.spec.containers.flatMap(({ ports = [] }) => ports)[0]?.containerPort : portNumber(port)
  const address = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? ''
  if (!isPodAddress(address)) throw badRequest('address not allowed')
  return { scheme, host: hostOf(address, chosen), port: chosen ?? portOfScheme[scheme] }
}

/** An address that a pod can have to itself: not nothing, not everybody's, and no link's. */
function isPodAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !/^(0\.|22[4-9]\.|23\d\.|255\.255\.255\.255$|169\.254\.)/.test(address)
  return version === 6 && !/^(::$|ff|fe[89ab])/i.test(address)
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port > 0 && port <= 0xffff) return port
  throw badRequest(`invalid port ${JSON.stringify(text)} of a pod: ports of pods are numbers from 1 to 65535`)
}

const hostOf = (address: string, port: number | undefined): string =>
  `${isIP(address) === 6 ? `[${address}]` : address}${port === undefined ? '' : `:${port}`}`

/** The name of the service's port that a request names by number or by name. Throws a ServiceUnavailable where there is none. */
export function servicePortName(port: string, service: Service): string {
  if (!/^\d+$/.test(port)) return port
  const found = service.spec?.ports?.find((each) => each.port === Number(port))
  if (found !== undefined) return found.name ?? ''
  throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(service.metadata.name)}`)
}

/** An endpoint of a service, as far as its pod says that it is one. */
export interface PodEndpoint {
  readonly pod: Pod
  readonly host: string
  readonly port: number
}

/**
 * The endpoints of a service's port that are ready. Only those count that are pods of the same namespace at addresses which
 * the pods have: what else people write there would be reached from where the server is (upstream's registry/core/service
 * ResourceLocation). Pure.
 */
export function podEndpoints(
  endpoints: Endpoints,
  portName: string,
  podOf: (name: string) => Pod | undefined,
): readonly PodEndpoint[] {
  const { namespace } = endpoints.metadata
  return (endpoints.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
    const port = ports.find((each) => (each.name ?? '') === portName)?.port
    if (port === undefined) return []
    return addresses.flatMap(({ ip, targetRef }) => {
      if (targetRef === undefined || targetRef.namespace !== namespace) return []
      const pod = podOf(targetRef.name ?? '')
      const isItsOwn = pod?.status?.podIPs?.some((each) => each.ip === ip) === true
      return pod !== undefined && isItsOwn ? [{ pod, host: hostOf(ip, port), port }] : []
    })
  })
}
