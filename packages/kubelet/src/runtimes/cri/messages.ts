import { message } from '@coracle/environment/grpc-messages'

/*
 * What is used of the Container Runtime Interface v1, as data: names as in its api.proto, numbers as on the wire; of Windows nothing.
 * https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto
 */

export const empty = message({})

const int64Value = message({ value: [1, 'int64'] })
const uint64Value = message({ value: [1, 'uint64'] })

// --- The runtime itself ------------------------------------------------------------------------------------------------

export const versionRequest = message({ version: [1, 'string'] })

export const versionResponse = message({
  version: [1, 'string'],
  runtimeName: [2, 'string'],
  runtimeVersion: [3, 'string'],
  runtimeApiVersion: [4, 'string'],
})

const runtimeCondition = message({
  type: [1, 'string'],
  status: [2, 'bool'],
  reason: [3, 'string'],
  message: [4, 'string'],
})

const handlerFeatures = message({ recursiveReadOnlyMounts: [1, 'bool'], userNamespaces: [2, 'bool'] })

export const runtimeHandler = message({ name: [1, 'string'], features: [2, handlerFeatures] })

export const statusResponse = message({
  status: [1, message({ conditions: [1, [runtimeCondition]] })],
  runtimeHandlers: [3, [runtimeHandler]],
  features: [4, message({ supplementalGroupsPolicy: [1, 'bool'] })],
})

// --- Sandboxes ---------------------------------------------------------------------------------------------------------

/** Values of `NamespaceMode`. */
export const namespaceModes = { pod: 0, container: 1, node: 2, target: 3 } as const

const idMapping = message({ hostId: [1, 'uint32'], containerId: [2, 'uint32'], length: [3, 'uint32'] })

const userNamespace = message({ mode: [1, 'int32'], uids: [2, [idMapping]], gids: [3, [idMapping]] })

const namespaceOption = message({
  network: [1, 'int32'],
  pid: [2, 'int32'],
  ipc: [3, 'int32'],
  targetId: [4, 'string'],
  usernsOptions: [5, userNamespace],
})

/** Values of `SecurityProfile.ProfileType`. */
export const profileTypes = { RuntimeDefault: 0, Unconfined: 1, Localhost: 2 } as const

const securityProfile = message({ profileType: [1, 'int32'], localhostRef: [2, 'string'] })

const selinuxOption = message({ user: [1, 'string'], role: [2, 'string'], type: [3, 'string'], level: [4, 'string'] })

const sandboxSecurityContext = message({
  namespaceOptions: [1, namespaceOption],
  selinuxOptions: [2, selinuxOption],
  runAsUser: [3, int64Value],
  supplementalGroups: [5, ['int64']],
  privileged: [6, 'bool'],
  runAsGroup: [8, int64Value],
  seccomp: [9, securityProfile],
  supplementalGroupsPolicy: [11, 'int32'],
})

const metadata = message({
  name: [1, 'string'],
  uid: [2, 'string'],
  namespace: [3, 'string'],
  attempt: [4, 'uint32'],
})

/** Values of `Protocol`. */
export const protocols = { TCP: 0, UDP: 1, SCTP: 2 } as const

const portMapping = message({
  protocol: [1, 'int32'],
  containerPort: [2, 'int32'],
  hostPort: [3, 'int32'],
  hostIp: [4, 'string'],
})

const dnsConfig = message({ servers: [1, ['string']], searches: [2, ['string']], options: [3, ['string']] })

export const linuxContainerResources = message({
  cpuPeriod: [1, 'int64'],
  cpuQuota: [2, 'int64'],
  cpuShares: [3, 'int64'],
  memoryLimitInBytes: [4, 'int64'],
  oomScoreAdj: [5, 'int64'],
  hugepageLimits: [8, [message({ pageSize: [1, 'string'], limit: [2, 'uint64'] })]],
  unified: [9, 'map'],
})

export const podSandboxConfig = message({
  metadata: [1, metadata],
  hostname: [2, 'string'],
  logDirectory: [3, 'string'],
  dnsConfig: [4, dnsConfig],
  portMappings: [5, [portMapping]],
  labels: [6, 'map'],
  annotations: [7, 'map'],
  linux: [
    8,
    message({
      cgroupParent: [1, 'string'],
      securityContext: [2, sandboxSecurityContext],
      sysctls: [3, 'map'],
      overhead: [4, linuxContainerResources],
      resources: [5, linuxContainerResources],
    }),
  ],
})

export const runPodSandboxRequest = message({ config: [1, podSandboxConfig], runtimeHandler: [2, 'string'] })

/** Also what asks for something to be done with a sandbox. */
export const podSandboxId = message({ podSandboxId: [1, 'string'] })

/** Value of `PodSandboxState`; that of one that is not ready is 1. */
export const sandboxReady = 0

const sandboxStatus = message({
  id: [1, 'string'],
  metadata: [2, metadata],
  state: [3, 'int32'],
  createdAt: [4, 'int64'],
  network: [5, message({ ip: [1, 'string'], additionalIps: [2, [message({ ip: [1, 'string'] })]] })],
  labels: [7, 'map'],
})

export const podSandboxStatusRequest = message({ podSandboxId: [1, 'string'], verbose: [2, 'bool'] })

/** `info` is for those who ask for all: texts in JSON, which are the runtime's own. */
export const podSandboxStatusResponse = message({ status: [1, sandboxStatus], info: [2, 'map'] })

export const listPodSandboxRequest = message({ filter: [1, message({ id: [1, 'string'], labelSelector: [3, 'map'] })] })

const podSandbox = message({
  id: [1, 'string'],
  metadata: [2, metadata],
  state: [3, 'int32'],
  createdAt: [4, 'int64'],
  labels: [5, 'map'],
})

export const listPodSandboxResponse = message({ items: [1, [podSandbox]] })

// --- Containers --------------------------------------------------------------------------------------------------------

export const imageSpec = message({ image: [1, 'string'], annotations: [2, 'map'], userSpecifiedImage: [18, 'string'] })

/** Values of `MountPropagation`. */
export const propagations = { None: 0, HostToContainer: 1, Bidirectional: 2 } as const

const mount = message({
  containerPath: [1, 'string'],
  hostPath: [2, 'string'],
  readonly: [3, 'bool'],
  propagation: [5, 'int32'],
  uidMappings: [6, [idMapping]],
  gidMappings: [7, [idMapping]],
  recursiveReadOnly: [8, 'bool'],
  image: [9, imageSpec],
  imageSubPath: [10, 'string'],
})

const capability = message({ addCapabilities: [1, ['string']], dropCapabilities: [2, ['string']] })

export const containerSecurityContext = message({
  capabilities: [1, capability],
  privileged: [2, 'bool'],
  namespaceOptions: [3, namespaceOption],
  selinuxOptions: [4, selinuxOption],
  runAsUser: [5, int64Value],
  runAsUsername: [6, 'string'],
  readonlyRootfs: [7, 'bool'],
  supplementalGroups: [8, ['int64']],
  apparmorProfile: [9, 'string'],
  noNewPrivs: [11, 'bool'],
  runAsGroup: [12, int64Value],
  maskedPaths: [13, ['string']],
  readonlyPaths: [14, ['string']],
  seccomp: [15, securityProfile],
  apparmor: [16, securityProfile],
  supplementalGroupsPolicy: [17, 'int32'],
})

const containerMetadata = message({ name: [1, 'string'], attempt: [2, 'uint32'] })

export const containerConfig = message({
  metadata: [1, containerMetadata],
  image: [2, imageSpec],
  command: [3, ['string']],
  args: [4, ['string']],
  workingDir: [5, 'string'],
  envs: [6, [message({ key: [1, 'string'], value: [2, 'string'] })]],
  mounts: [7, [mount]],
  devices: [8, [message({ containerPath: [1, 'string'], hostPath: [2, 'string'], permissions: [3, 'string'] })]],
  labels: [9, 'map'],
  annotations: [10, 'map'],
  logPath: [11, 'string'],
  stdin: [12, 'bool'],
  stdinOnce: [13, 'bool'],
  tty: [14, 'bool'],
  linux: [15, message({ resources: [1, linuxContainerResources], securityContext: [2, containerSecurityContext] })],
  cdiDevices: [17, [message({ name: [1, 'string'] })]],
  stopSignal: [18, 'int32'],
})

export const createContainerRequest = message({
  podSandboxId: [1, 'string'],
  config: [2, containerConfig],
  sandboxConfig: [3, podSandboxConfig],
})

/** Also what asks for something to be done with a container. */
export const containerId = message({ containerId: [1, 'string'] })

export const stopContainerRequest = message({ containerId: [1, 'string'], timeout: [2, 'int64'] })

/** Values of `ContainerState`. */
export const containerStates = { created: 0, running: 1, exited: 2, unknown: 3 } as const

const container = message({
  id: [1, 'string'],
  podSandboxId: [2, 'string'],
  metadata: [3, containerMetadata],
  image: [4, imageSpec],
  imageRef: [5, 'string'],
  state: [6, 'int32'],
  createdAt: [7, 'int64'],
  labels: [8, 'map'],
  annotations: [9, 'map'],
  imageId: [10, 'string'],
})

export const listContainersRequest = message({
  filter: [1, message({ id: [1, 'string'], podSandboxId: [3, 'string'], labelSelector: [4, 'map'] })],
})

export const listContainersResponse = message({ containers: [1, [container]] })

const containerUser = message({ uid: [1, 'int64'], gid: [2, 'int64'], supplementalGroups: [3, ['int64']] })

export const containerStatus = message({
  id: [1, 'string'],
  metadata: [2, containerMetadata],
  state: [3, 'int32'],
  createdAt: [4, 'int64'],
  startedAt: [5, 'int64'],
  finishedAt: [6, 'int64'],
  exitCode: [7, 'int32'],
  image: [8, imageSpec],
  imageRef: [9, 'string'],
  reason: [10, 'string'],
  message: [11, 'string'],
  labels: [12, 'map'],
  annotations: [13, 'map'],
  mounts: [14, [mount]],
  logPath: [15, 'string'],
  imageId: [17, 'string'],
  user: [18, message({ linux: [1, containerUser] })],
  stopSignal: [19, 'int32'],
})

export const containerStatusRequest = message({ containerId: [1, 'string'], verbose: [2, 'bool'] })

export const containerStatusResponse = message({ status: [1, containerStatus], info: [2, 'map'] })

export const updateContainerResourcesRequest = message({
  containerId: [1, 'string'],
  linux: [2, linuxContainerResources],
})

export const execSyncRequest = message({ containerId: [1, 'string'], cmd: [2, ['string']], timeout: [3, 'int64'] })

export const execSyncResponse = message({ stdout: [1, 'bytes'], stderr: [2, 'bytes'], exitCode: [3, 'int32'] })

export const execRequest = message({
  containerId: [1, 'string'],
  cmd: [2, ['string']],
  tty: [3, 'bool'],
  stdin: [4, 'bool'],
  stdout: [5, 'bool'],
  stderr: [6, 'bool'],
})

export const attachRequest = message({
  containerId: [1, 'string'],
  stdin: [2, 'bool'],
  tty: [3, 'bool'],
  stdout: [4, 'bool'],
  stderr: [5, 'bool'],
})

export const portForwardRequest = message({ podSandboxId: [1, 'string'], port: [2, ['int32']] })

/** Where streams are to be opened. */
export const streamingUrl = message({ url: [1, 'string'] })

const psiData = message({ total: [1, 'uint64'], avg10: [2, 'double'], avg60: [3, 'double'], avg300: [4, 'double'] })

export const psiStats = message({ full: [1, psiData], some: [2, psiData] })

const cpuUsage = message({ usageCoreNanoSeconds: [2, uint64Value], psi: [4, psiStats] })

const memoryUsage = message({
  workingSetBytes: [2, uint64Value],
  usageBytes: [4, uint64Value],
  rssBytes: [5, uint64Value],
  pageFaults: [6, uint64Value],
  majorPageFaults: [7, uint64Value],
  psi: [8, psiStats],
})

const ioUsage = message({ psi: [2, psiStats] })

const filesystemUsage = message({
  fsId: [2, message({ mountpoint: [1, 'string'] })],
  usedBytes: [3, uint64Value],
  inodesUsed: [4, uint64Value],
})

const statsAttributes = message({ id: [1, 'string'] })

export const containerStats = message({
  attributes: [1, statsAttributes],
  cpu: [2, cpuUsage],
  memory: [3, memoryUsage],
  writableLayer: [4, filesystemUsage],
  swap: [5, message({ swapUsageBytes: [3, uint64Value] })],
  io: [6, ioUsage],
})

export const listContainerStatsRequest = message({ filter: [1, message({ labelSelector: [3, 'map'] })] })

export const listContainerStatsResponse = message({ stats: [1, [containerStats]] })

export const interfaceUsage = message({
  name: [1, 'string'],
  rxBytes: [2, uint64Value],
  rxErrors: [3, uint64Value],
  txBytes: [4, uint64Value],
  txErrors: [5, uint64Value],
})

export const podSandboxStats = message({
  attributes: [1, statsAttributes],
  linux: [
    2,
    message({
      cpu: [1, cpuUsage],
      memory: [2, memoryUsage],
      network: [3, message({ defaultInterface: [2, interfaceUsage], interfaces: [3, [interfaceUsage]] })],
      process: [4, message({ processCount: [2, uint64Value] })],
      io: [6, ioUsage],
    }),
  ],
})

export const listPodSandboxStatsRequest = message({ filter: [1, message({ labelSelector: [2, 'map'] })] })

export const listPodSandboxStatsResponse = message({ stats: [1, [podSandboxStats]] })

/** What is told of a container is looked up again: only whose it is counts. */
export const containerEvent = message({
  containerId: [1, 'string'],
  containerEventType: [2, 'int32'],
  podSandboxStatus: [4, message({ metadata: [2, metadata] })],
})

// --- Images ------------------------------------------------------------------------------------------------------------

const image = message({
  id: [1, 'string'],
  repoTags: [2, ['string']],
  repoDigests: [3, ['string']],
  size: [4, 'uint64'],
  uid: [5, int64Value],
  username: [6, 'string'],
  pinned: [8, 'bool'],
})

export const listImagesResponse = message({ images: [1, [image]] })

/** Also what asks for an image to be removed. */
export const imageRequest = message({ image: [1, imageSpec] })

export const imageStatusResponse = message({ image: [1, image] })

export const authConfig = message({
  username: [1, 'string'],
  password: [2, 'string'],
  auth: [3, 'string'],
  serverAddress: [4, 'string'],
  identityToken: [5, 'string'],
  registryToken: [6, 'string'],
})

export const pullImageRequest = message({
  image: [1, imageSpec],
  auth: [2, authConfig],
  sandboxConfig: [3, podSandboxConfig],
})

export const pullImageResponse = message({ imageRef: [1, 'string'] })

export const imageFsInfoResponse = message({ imageFilesystems: [1, [filesystemUsage]] })
