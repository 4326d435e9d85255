import { profileTypes, protocols } from '../cri/messages.ts'
import type { InspectedContainer, ListedContainer } from './answers.ts'
import {
  annotationsIn,
  asLabels,
  dockerLabels,
  labelsIn,
  type SandboxConfig,
  sandboxMetadata,
  sandboxType,
} from './names.ts'
import { securityOptions, userFields } from './security.ts'
import { nanos } from './times.ts'

/** How readily the process of a sandbox is killed where memory runs out: as upstream's. */
const oomScoreAdj = -998
/** Values of CRI's NamespaceMode. */
const node = 2

/** The body that creates the container which holds what the containers of a pod have in common. */
export function sandboxBody(
  config: SandboxConfig,
  image: string,
  runtimeHandler: string,
  engine: string,
  oomScore: OomScore,
) {
  const { hostname, labels, annotations, metadata, portMappings, linux } = config
  const context = linux?.securityContext
  const namespaces = context?.namespaceOptions
  const onHost = namespaces?.network === node
  const ports = onHost ? [] : portMappings.filter(({ hostPort }) => hostPort > 0)
  return {
    Image: image,
    ...(onHost ? {} : { Hostname: hostname }),
    ...(context === undefined ? {} : userFields(context)),
    Labels: {
      ...labels,
      ...asLabels(annotations),
      [dockerLabels.type]: sandboxType,
      [dockerLabels.attempt]: String(metadata?.attempt ?? 0),
    },
    ExposedPorts: Object.fromEntries(ports.map((each) => [portName(each), {}])),
    HostConfig: {
      NetworkMode: onHost ? 'host' : 'default',
      ...(onHost ? { UTSMode: 'host' } : {}),
      IpcMode: namespaces?.ipc === node ? 'host' : 'shareable',
      ...(namespaces?.pid === node ? { PidMode: 'host' } : {}),
      PortBindings: portBindings(ports),
      Sysctls: linux?.sysctls ?? {},
      Privileged: context?.privileged === true,
      ...(context === undefined ? {} : { GroupAdd: context.supplementalGroups.map(String) }),
      SecurityOpt: securityOptions({ ...context, noNewPrivs: false, seccomp: context?.seccomp ?? unconfined }, engine),
      OomScoreAdj: oomScore(oomScoreAdj),
      LogConfig: { Type: 'none' },
      ...(runtimeHandler === '' ? {} : { Runtime: runtimeHandler }),
    },
  }
}

/** Turns a wish into what may be had. */
export type OomScore = (wanted: number) => number

const unconfined = { profileType: profileTypes.Unconfined, localhostRef: '' }

type PortMapping = SandboxConfig['portMappings'][number]

const protocolNames = new Map(Object.entries(protocols).map(([name, number]) => [number as number, name.toLowerCase()]))

const portName = ({ protocol, containerPort }: PortMapping): string =>
  `${containerPort}/${protocolNames.get(protocol) ?? 'tcp'}`

function portBindings(ports: readonly PortMapping[]) {
  const bindings = new Map<string, { HostPort: string; HostIp: string }[]>()
  for (const each of ports) {
    const own = bindings.get(portName(each)) ?? []
    own.push({ HostPort: String(each.hostPort), HostIp: each.hostIp })
    bindings.set(portName(each), own)
  }
  return Object.fromEntries(bindings)
}

/** One sandbox of a list, as CRI has it. */
export function listedSandbox({ Id, State, Created, Labels }: ListedContainer) {
  return {
    id: Id,
    metadata: sandboxMetadata(Labels ?? {}),
    state: State === 'running' ? 0 : 1,
    createdAt: Created * 1e9,
    labels: labelsIn(Labels ?? {}),
  }
}

/** A sandbox, as CRI has it. */
export function sandboxStatus({ Id, Created, State, Config, NetworkSettings }: InspectedContainer) {
  const labels = Config.Labels ?? {}
  const [ip = '', ...additionalIps] = State.Running ? addressesOf(NetworkSettings) : []
  return {
    id: Id,
    metadata: sandboxMetadata(labels),
    state: State.Running ? 0 : 1,
    createdAt: nanos(Created),
    network: { ip, additionalIps: additionalIps.map((each) => ({ ip: each })) },
    labels: labelsIn(labels),
    annotations: annotationsIn(labels),
  }
}

/** Those of IPv4 first. */
export function addressesOf(settings: InspectedContainer['NetworkSettings']): readonly string[] {
  const networks = Object.values(settings?.Networks ?? {})
  const all = [...networks.map((each) => each?.IPAddress), ...networks.map((each) => each?.GlobalIPv6Address)]
  return all.filter((each): each is string => each !== undefined && each !== '')
}
