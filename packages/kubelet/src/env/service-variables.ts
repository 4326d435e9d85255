import { apiServiceKey, noClusterIp, type Service } from '@coracle/api'

const { namespace: apiNamespace, name: apiName } = apiServiceKey

/** The services that a pod of `namespace` finds in its environment. One of its own namespace that has an address goes before that of the API. */
export function servicesFor(
  namespace: string,
  enableServiceLinks: boolean,
  servicesOf: (namespace: string) => readonly Service[],
): readonly Service[] {
  const own = enableServiceLinks ? servicesOf(namespace) : []
  const isOfApi = (service: Service): boolean => service.metadata.name === apiName && hasAddress(service)
  return [...own, ...(own.some(isOfApi) ? [] : servicesOf(apiNamespace).filter(isOfApi))]
}

/** Where something is served. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

/** The services, that of the API at a server of it where that is known: for containers whose network has nothing at the address of that service. */
export function atServer(services: readonly Service[], server: ServerAddress | undefined): readonly Service[] {
  if (server === undefined) return services
  const { address: clusterIP, port } = server
  return services.map((service) => {
    const { metadata, spec } = service
    if (metadata.name !== apiName || metadata.namespace !== apiNamespace) return service
    return { ...service, spec: { ...spec, clusterIP, ports: (spec.ports ?? []).map((each) => ({ ...each, port })) } }
  })
}

/**
 * The variables by which a container finds services that have an address (https://docs.k8s.io/concepts/services-networking,
 * upstream's pkg/kubelet/envvars): `WEB_SERVICE_HOST` and `WEB_SERVICE_PORT`, and those of Docker's links, `WEB_PORT_80_TCP_ADDR`.
 */
export function serviceVariables(services: readonly Service[]): ReadonlyMap<string, string> {
  return new Map(services.filter(hasAddress).flatMap(variablesOf))
}

const hasAddress = ({ spec }: Service): boolean => (spec.clusterIP ?? '') !== '' && spec.clusterIP !== noClusterIp

function variablesOf({ metadata, spec }: Service): readonly (readonly [string, string])[] {
  const { clusterIP = '', ports = [] } = spec
  const name = variableName(metadata.name ?? '')
  const first = ports[0]
  return [
    [`${name}_SERVICE_HOST`, clusterIP],
    ...(first === undefined
      ? []
      : [
          [`${name}_SERVICE_PORT`, String(first.port)] as const,
          [`${name}_PORT`, linkTo(clusterIP, first.port, first.protocol)] as const,
        ]),
    ...ports.flatMap(({ name: portName = '', port, protocol = 'TCP' }) => {
      const link = `${name}_PORT_${port}_${protocol}`
      return [
        ...(portName === '' ? [] : [[`${name}_SERVICE_PORT_${variableName(portName)}`, String(port)] as const]),
        [link, linkTo(clusterIP, port, protocol)] as const,
        [`${link}_PROTO`, protocol.toLowerCase()] as const,
        [`${link}_PORT`, String(port)] as const,
        [`${link}_ADDR`, clusterIP] as const,
      ]
    }),
  ]
}

const variableName = (name: string): string => name.toUpperCase().replaceAll('-', '_')

function linkTo(ip: string, port: number, protocol = 'TCP'): string {
  return `${protocol.toLowerCase()}://${ip.includes(':') ? `[${ip}]` : ip}:${port}`
}
