import type { Encodable } from '@coracle/environment/grpc'
import {
  type ContainerConfig,
  ContainerConfigError,
  type ContainerIsolation,
  type DeviceAccess,
  type IdRange,
  type LinuxResources,
  type Mount,
  type NamespaceOptions,
  type PodSandboxConfig,
  type SandboxIsolation,
  type SandboxResources,
  type SecurityProfile,
} from '../runtime.ts'
import {
  type containerConfig,
  type containerSecurityContext,
  type linuxContainerResources,
  namespaceModes,
  type podSandboxConfig,
  profileTypes,
  propagations,
  protocols,
} from './messages.ts'
import { agentLabel, containerAnnotations, containerLabels, podLabels } from './names.ts'
import { signalNumber } from './signals.ts'
import type { UnifiedSettings } from './unified-settings.ts'

/** The configuration of a sandbox as CRI has it. */
export function sandboxRequest(
  config: PodSandboxConfig,
  agent: string,
  logDirectory: string,
): Encodable<typeof podSandboxConfig> {
  const { podName, podUid, podNamespace, attempt, hostname, hostNetwork, isolation } = config
  return {
    metadata: { name: podName, uid: podUid, namespace: podNamespace, attempt },
    // The node's network comes with the node's name.
    hostname: hostNetwork ? '' : hostname,
    logDirectory,
    labels: { ...isolation?.labels, ...podLabels(config), [agentLabel]: agent },
    annotations: isolation?.annotations ?? {},
    ...(isolation === undefined ? {} : isolatedSandbox(isolation)),
  }
}

function isolatedSandbox(isolation: SandboxIsolation): Encodable<typeof podSandboxConfig> {
  const { dns, portMappings, namespaces, users, privileged, seccomp, selinux, sysctls, resources, overhead } = isolation
  return {
    ...(dns === undefined ? {} : { dnsConfig: dns }),
    portMappings: portMappings.map(({ protocol, containerPort, hostPort, hostIp = '' }) => ({
      protocol: protocols[protocol],
      containerPort,
      hostPort,
      hostIp,
    })),
    linux: {
      securityContext: {
        namespaceOptions: namespaceRequest(namespaces, users),
        ...userRequest(isolation),
        privileged,
        seccomp: profileRequest(seccomp),
        ...(selinux === undefined ? {} : { selinuxOptions: selinux }),
      },
      sysctls,
      ...(resources === undefined ? {} : { resources: amountsRequest(resources) }),
      ...(overhead === undefined ? {} : { overhead: amountsRequest(overhead) }),
    },
  }
}

/** What the node agent adds to a configuration of a container. */
export interface ContainerPlace {
  readonly podName: string
  readonly podNamespace: string
  readonly podUid: string
  readonly agent: string
  /** Relative to the log directory of its sandbox. */
  readonly logPath: string
  /** Files beside the volumes. */
  readonly mounts: readonly Mount[]
  /** The users of its pod on the node, where it has its own: its files, as it sees them, are theirs. */
  readonly users?: IdRange | undefined
  /** What its control group is told beside its resources. */
  readonly unified?: UnifiedSettings | undefined
}

/** The configuration of a container as CRI has it. Throws a `ContainerConfigError` where a volume is nowhere on the node. */
export function containerRequest(config: ContainerConfig, place: ContainerPlace): Encodable<typeof containerConfig> {
  const { name, attempt, image, imageRef = image, workingDirectory = '', isolation } = config
  return {
    metadata: { name, attempt },
    image: { image: imageRef, userSpecifiedImage: image },
    command: config.command,
    args: config.args,
    workingDir: workingDirectory,
    envs: config.env.map(({ name: key, value }) => ({ key, value })),
    mounts: [...config.mounts, ...place.mounts].map((mount) => ({
      ...mountRequest(mount),
      ...(place.users === undefined ? {} : { uidMappings: mapped(place.users), gidMappings: mapped(place.users) }),
    })),
    ...(config.devices === undefined ? {} : deviceRequest(config.devices)),
    labels: { ...isolation?.labels, ...containerLabels(config, place), [agentLabel]: place.agent },
    annotations: { ...config.devices?.annotations, ...isolation?.annotations, ...containerAnnotations(config) },
    logPath: place.logPath,
    stdin: config.stdin === true,
    stdinOnce: config.stdinOnce === true,
    tty: config.tty === true,
    ...(config.stopSignal === undefined ? {} : { stopSignal: signalNumber(config.stopSignal) }),
    ...(isolation === undefined
      ? {}
      : {
          linux: {
            resources: resourcesRequest(isolation.resources, place.unified),
            securityContext: securityRequest(isolation, place.users),
          },
        }),
  }
}

const deviceRequest = ({ files, cdiNames }: DeviceAccess) => ({
  devices: files,
  cdiDevices: cdiNames.map((name) => ({ name })),
})

function mountRequest(mount: Mount) {
  const { name, containerPath, hostPath, image, readOnly, recursiveReadOnly, propagation = 'None' } = mount
  if (image !== undefined) {
    const { image: id, askedImage, path } = image
    return {
      containerPath,
      image: { image: id, userSpecifiedImage: askedImage },
      imageSubPath: path,
      readonly: true,
      recursiveReadOnly: recursiveReadOnly === true,
    }
  }
  if (hostPath === undefined) {
    throw new ContainerConfigError(
      `volumeMount "${name}" cannot be mounted at ${containerPath}: no driver of this node brings volumes of its kind`,
    )
  }
  return {
    containerPath,
    hostPath,
    readonly: readOnly === true,
    recursiveReadOnly: recursiveReadOnly === true,
    propagation: propagations[propagation],
  }
}

function securityRequest(
  isolation: ContainerIsolation,
  users: IdRange | undefined,
): Encodable<typeof containerSecurityContext> {
  const { addCapabilities, dropCapabilities, runAsUsername, apparmor, selinux } = isolation
  return {
    capabilities: { addCapabilities, dropCapabilities },
    privileged: isolation.privileged,
    namespaceOptions: namespaceRequest(isolation.namespaces, users),
    ...userRequest(isolation),
    ...(runAsUsername === undefined ? {} : { runAsUsername }),
    readonlyRootfs: isolation.readOnlyRootFilesystem,
    noNewPrivs: isolation.noNewPrivileges,
    maskedPaths: isolation.maskedPaths,
    readonlyPaths: isolation.readOnlyPaths,
    seccomp: profileRequest(isolation.seccomp),
    ...(apparmor === undefined ? {} : { apparmor: profileRequest(apparmor), apparmorProfile: oldProfile(apparmor) }),
    ...(selinux === undefined ? {} : { selinuxOptions: selinux }),
  }
}

/** Older runtimes know profiles of AppArmor by this text alone. */
function oldProfile({ type, localhostRef = '' }: SecurityProfile): string {
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Unconfined' ? 'unconfined' : `localhost/${localhostRef}`
}

function userRequest({
  runAsUser,
  runAsGroup,
  supplementalGroups,
  onlyTheseGroups,
}: ContainerIsolation | SandboxIsolation) {
  return {
    ...(runAsUser === undefined ? {} : { runAsUser: { value: runAsUser } }),
    ...(runAsGroup === undefined ? {} : { runAsGroup: { value: runAsGroup } }),
    supplementalGroups,
    supplementalGroupsPolicy: Number(onlyTheseGroups),
  }
}

const mapped = ({ hostId, length }: IdRange) => [{ hostId, containerId: 0, length }]

const namespaceRequest = ({ network, pid, ipc, targetId = '' }: NamespaceOptions, users: IdRange | undefined) => ({
  network: namespaceModes[network],
  pid: namespaceModes[pid],
  ipc: namespaceModes[ipc],
  targetId,
  usernsOptions:
    users === undefined
      ? { mode: namespaceModes.node }
      : { mode: namespaceModes.pod, uids: mapped(users), gids: mapped(users) },
})

const profileRequest = ({ type, localhostRef = '' }: SecurityProfile) => ({
  profileType: profileTypes[type],
  localhostRef,
})

/** What a container may use, as CRI has it, with what else its control group is told. */
export const resourcesRequest = (
  resources: LinuxResources,
  unified: UnifiedSettings = {},
): Encodable<typeof linuxContainerResources> => ({
  ...amountsRequest(resources),
  oomScoreAdj: resources.oomScoreAdj,
  ...(Object.keys(unified).length === 0 ? {} : { unified }),
})

const amountsRequest = ({ cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes }: SandboxResources) => ({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memoryLimitInBytes: memoryLimitBytes,
})
