import type { Duplex } from 'node:stream'
import type { Probe } from '@coracle/api'
import type { CommandStreams } from '@coracle/client/streaming'
import type { LogReadOptions } from '../log-options.ts'

/** What a pod is to the runtime: a place for its containers, with an address. CRI's PodSandboxConfig. */
export interface PodSandboxConfig {
  readonly podUid: string
  readonly podName: string
  readonly podNamespace: string
  /** Counts the sandboxes this pod has had. */
  readonly attempt: number
  readonly hostname: string
  /** The pod shares the node's network and gets no address of its own. */
  readonly hostNetwork: boolean
  /** It wants users that are none of its host's, on a runtime that does not isolate pods. Absent: it does not. */
  readonly ownUsers?: true
  /** Address to take if it is free: the one the pod had before. */
  readonly preferredAddress?: string
  /** What only a runtime that isolates pods can make come true. Absent for others. */
  readonly isolation?: SandboxIsolation
}

/** What a pod as a whole may use. CRI's LinuxContainerResources. */
export interface SandboxResources {
  /** Weight among others. */
  readonly cpuShares: number
  /** Microseconds of each `cpuPeriod`; 0: as many as it likes. */
  readonly cpuQuota: number
  /** In microseconds. */
  readonly cpuPeriod: number
  /** 0: as much as there is. */
  readonly memoryLimitBytes: number
}

/** What a namespace of Linux is shared with. CRI's NamespaceMode. */
export type NamespaceMode = 'pod' | 'container' | 'node' | 'target'

/** The ids of the node, of users and of groups, that those of a pod are, from 0 on. CRI's IDMapping. */
export interface IdRange {
  readonly hostId: number
  readonly length: number
}

/** CRI's NamespaceOption. */
export interface NamespaceOptions {
  readonly network: 'pod' | 'node'
  readonly pid: NamespaceMode
  readonly ipc: 'pod' | 'node'
  /** The id of the container whose processes are seen, where `pid` is `target`. */
  readonly targetId?: string
}

/** What a seccomp or AppArmor profile is. CRI's SecurityProfile. */
export interface SecurityProfile {
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  /** The path of a seccomp profile, or the name of one of AppArmor, where it is of this host. */
  readonly localhostRef?: string
}

export interface SelinuxOptions {
  readonly user?: string
  readonly role?: string
  readonly type?: string
  readonly level?: string
}

/** CRI's DNSConfig. */
export interface DnsConfig {
  readonly servers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

/** A port of the node that leads to one of the pod. CRI's PortMapping. */
export interface PortMapping {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly containerPort: number
  readonly hostPort: number
  /** Absent: all addresses of the node. */
  readonly hostIp?: string
}

/** Who a process is. Whatever is absent is as the image says. */
export interface UserOptions {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly supplementalGroups: readonly number[]
  /** Whether it is in no groups beside these, whatever the image says. */
  readonly onlyTheseGroups: boolean
}

/** Whom a container wants to be where its processes are those of the host. */
export interface AskedUser extends UserOptions {
  /** Whether it must not be root, whoever else it is. */
  readonly neverRoot: boolean
  /** Whether its processes get no rights that they do not have at the start. */
  readonly noNewPrivileges: boolean
}

/** What of a CRI PodSandboxConfig is Linux's, or for those who look at the runtime itself. */
export interface SandboxIsolation extends UserOptions {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Absent: the node's. */
  readonly dns?: DnsConfig
  readonly portMappings: readonly PortMapping[]
  readonly namespaces: NamespaceOptions
  /** Whether its users, root too, are none of the node's. */
  readonly ownUsers: boolean
  /** Which they are on the node: the runtime's to say. */
  readonly users?: IdRange
  /** Whether one of its containers is to be privileged. */
  readonly privileged: boolean
  readonly seccomp: SecurityProfile
  readonly selinux?: SelinuxOptions
  readonly sysctls: Readonly<Record<string, string>>
  /** What its containers may use together, for runtimes that set something up for it, such as a virtual machine. */
  readonly resources?: SandboxResources
  /** What the runtime takes for itself with each pod, by its runtime class; absent: nobody says. */
  readonly overhead?: SandboxResources
  /** Empty: the runtime's default. */
  readonly runtimeHandler: string
  /** Host names of its containers, as a file. */
  readonly hostAliases: readonly { readonly ip: string; readonly hostnames: readonly string[] }[]
  /** What the pod is called in that file, the longest first; absent: as its host. */
  readonly ownNames?: readonly string[]
}

/** A sandbox as the runtime sees it. */
export interface PodSandboxStatus {
  readonly id: string
  readonly podUid: string
  readonly podName: string
  readonly podNamespace: string
  readonly attempt: number
  /** A sandbox that is not ready holds no running containers and never will again. */
  readonly ready: boolean
  readonly createdAtMs: number
  /** Empty for a pod on the node's network. */
  readonly addresses: readonly string[]
}

export interface EnvironmentVariable {
  readonly name: string
  readonly value: string
}

/** A volume as a container is to see it. */
export interface Mount {
  readonly name: string
  readonly containerPath: string
  /** Where it is on the node; absent where the node agent cannot bring it there, and for images. */
  readonly hostPath?: string
  /** Where the volume is of which `hostPath` is a part, without links beyond it. Absent: it is all of it. */
  readonly volumePath?: string
  /** The image whose files it shows, as the runtime and as the pod calls it, and the path in it; empty: all of it. */
  readonly image?: { readonly image: string; readonly askedImage: string; readonly path: string }
  readonly readOnly?: boolean
  /** Whether also what is mounted below it is read-only. */
  readonly recursiveReadOnly?: boolean
  /** Whether mounts that are made below it by one side are seen by the other. Absent: by neither. */
  readonly propagation?: 'None' | 'HostToContainer' | 'Bidirectional'
}

/** A device file of the node, as a container is to see it. CRI's Device. */
export interface DeviceFile {
  readonly containerPath: string
  readonly hostPath: string
  /** Some of `r`, `w` and `m` (make with mknod). */
  readonly permissions: string
}

/** How a container gets at devices. */
export interface DeviceAccess {
  readonly files: readonly DeviceFile[]
  /** Names of the Container Device Interface, such as `vendor.com/gpu=0`, which the runtime looks up. */
  readonly cdiNames: readonly string[]
  /** What plugins have to say to the runtime. */
  readonly annotations: Readonly<Record<string, string>>
}

/** What a container may use. CRI's LinuxContainerResources. */
export interface LinuxResources extends SandboxResources {
  /** How readily its processes are killed where memory runs out: -1000 to 1000. */
  readonly oomScoreAdj: number
}

/** What of a CRI ContainerConfig is Linux's, or for those who look at the runtime itself. */
export interface ContainerIsolation extends UserOptions {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly resources: LinuxResources
  readonly namespaces: NamespaceOptions
  /** Whether its pod is to have users that are none of the node's. */
  readonly ownUsers: boolean
  /** That of the image, where it names one and the pod does not. */
  readonly runAsUsername?: string
  readonly privileged: boolean
  readonly readOnlyRootFilesystem: boolean
  readonly addCapabilities: readonly string[]
  readonly dropCapabilities: readonly string[]
  readonly noNewPrivileges: boolean
  readonly seccomp: SecurityProfile
  /** Absent: the runtime's choice. */
  readonly apparmor?: SecurityProfile
  readonly selinux?: SelinuxOptions
  /** Paths that it does not see, and those that it cannot write to. */
  readonly maskedPaths: readonly string[]
  readonly readOnlyPaths: readonly string[]
}

/** One run of one container. CRI's ContainerConfig. */
export interface ContainerConfig {
  readonly name: string
  /** How often this container was started before in its pod: the restart count. */
  readonly attempt: number
  readonly image: string
  /** Replaces the image's entry point; empty keeps it. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly EnvironmentVariable[]
  /** Absent: the runtime's choice, or the image's. */
  readonly workingDirectory?: string
  /** Such as SIGTERM. Absent: the image's, or SIGTERM. */
  readonly stopSignal?: string
  readonly mounts: readonly Mount[]
  /** Where the container writes its last words, which become the message of the run. Absent: nowhere. */
  readonly terminationMessagePath?: string
  /** A run that fails without last words has the last lines of its log for a message. */
  readonly messageFromLog: boolean
  /** Whether it has an input that clients can be attached to; without, there is nothing to read. */
  readonly stdin?: boolean
  /** Whether the input ends with the first client that was attached to it. That of a terminal does not, which clients come back to. */
  readonly stdinOnce?: boolean
  /** Whether it has a terminal. */
  readonly tty?: boolean
  /** Whether it is there to do something and end, which a runtime that runs nothing cannot find out. */
  readonly isTask?: boolean
  /** Those that decide whether it is ready: without any the runtime does. Absent: none. */
  readonly probes?: readonly Probe[]
  /** The image as the runtime's own images call it, where it has any. */
  readonly imageRef?: string
  /** What only a runtime that isolates containers can make come true. Absent for others. */
  readonly isolation?: ContainerIsolation
  /** Whom it wants to be on a runtime that does not isolate; absent where it does not say, and for others. */
  readonly user?: AskedUser
  /** Devices that it has. Absent: none. */
  readonly devices?: DeviceAccess
}

/** `created` has never run, `exited` never will again. */
export type ContainerRuntimeState = 'created' | 'running' | 'exited'

/** A container as the runtime sees it: CRI's ContainerStatus, with the identity of its pod. */
export interface ContainerRuntimeStatus {
  readonly id: string
  readonly sandboxId: string
  readonly podUid: string
  readonly name: string
  readonly attempt: number
  /** As the runtime calls it. */
  readonly image: string
  /** As the pod called it when the container was made. Absent: the same. */
  readonly askedImage?: string
  /** What the image resolved to, as `imageID` shows it. */
  readonly imageRef: string
  /** Images that it has for volumes, as the runtime calls them. Absent: none. */
  readonly mountedImages?: readonly string[]
  /** Where it has mounts that are read-only with all that is mounted below them. Absent: nowhere. */
  readonly recursiveReadOnly?: readonly string[]
  readonly state: ContainerRuntimeState
  readonly createdAtMs: number
  readonly startedAtMs?: number
  readonly finishedAtMs?: number
  readonly exitCode?: number
  /** `Completed`, `Error`, `OOMKilled`, `StartError`. */
  readonly reason?: string
  readonly message?: string
  /** Whether it is not ready yet, which the runtime knows where no probe says so: it has only just started, or is a simulated one. */
  readonly unready?: boolean
  /** As whom its first process started; absent where that means nothing. */
  readonly user?: ContainerUser
  /** What it is asked to end with, such as SIGUSR1; absent where the runtime does not say. */
  readonly stopSignal?: string
}

/** A user and the groups it is in, in numbers. */
export interface ContainerUser {
  readonly uid: number
  readonly gid: number
  readonly supplementalGroups: readonly number[]
}

/** A container has stopped, for whatever reason, or is ready where no probe tells. CRI's GetContainerEvents. */
export interface ContainerStoppedEvent {
  readonly podUid: string
  readonly containerId: string
}

/** How long tasks have waited for something, and how much of the last seconds. CRI's PsiData. */
export interface StallTimes {
  readonly totalNs: number
  /** In percent of the last 10, 60 and 300 seconds. */
  readonly avg10: number
  readonly avg60: number
  readonly avg300: number
}

/** Times in which some tasks waited for a resource, and in which all did. CRI's PsiStats. */
export interface Stalls {
  readonly some: StallTimes
  readonly full: StallTimes
}

/** What tasks have waited for: pressure stall information of Linux. */
export interface Pressure {
  readonly cpu?: Stalls
  readonly memory?: Stalls
  readonly io?: Stalls
}

/** What a container has used and uses now. CRI's ContainerStats. What the runtime does not tell is absent. */
export interface ContainerStats {
  /** CPU time of all its processes since it was started, in milliseconds. */
  readonly cpuMs: number
  /** Of it, what was spent in user mode, and in the kernel. */
  readonly cpuUserMs?: number
  readonly cpuSystemMs?: number
  /** The working set: what cannot be taken back without swapping. */
  readonly memoryBytes: number
  /** All memory, however long ago it was used. */
  readonly memoryUsageBytes?: number
  /** What is not of files. */
  readonly memoryRssBytes?: number
  readonly memorySwapBytes?: number
  /** What is of files, whether they are mapped or not. */
  readonly memoryCacheBytes?: number
  /** What is of files that are mapped. */
  readonly memoryMappedBytes?: number
  /** What is of files that were read lately, and of those that were not. */
  readonly memoryActiveFileBytes?: number
  readonly memoryInactiveFileBytes?: number
  /** What the kernel holds for it. */
  readonly memoryKernelBytes?: number
  /** The most that was ever in use. */
  readonly memoryPeakBytes?: number
  /** How often it wanted more memory than it may have. */
  readonly memoryLimitHits?: number
  /** Pages that were not where they were looked for, and those of them that had to be read from a disk. */
  readonly pageFaults?: number
  readonly majorPageFaults?: number
  /** Processes that the kernel has ended for want of memory. */
  readonly oomKills?: number
  /** Periods over which its CPU quota has counted, those in which it was used up, and how long it had to wait in these. */
  readonly cpuPeriods?: number
  readonly cpuThrottledPeriods?: number
  readonly cpuThrottledMs?: number
  readonly processes?: number
  readonly threads?: number
  readonly pressure?: Pressure
  /** What it has read and written, by the disks that it did so on. */
  readonly disks?: readonly DiskStats[]
  /** The layer that it writes to. */
  readonly writableLayer?: {
    /** Where the file system is mounted that holds it. */
    readonly mountpoint: string
    readonly usedBytes: number
    readonly inodesUsed?: number
  }
}

/** What has gone from and to a disk. */
export interface DiskStats {
  /** Its numbers in the kernel, such as `8:0`. */
  readonly device: string
  readonly readBytes: number
  readonly writtenBytes: number
  readonly reads: number
  readonly writes: number
}

/** What the containers of a sandbox have used together. CRI's PodSandboxStats. */
export interface PodSandboxStats extends Partial<ContainerStats> {
  /** Of its own network: absent where it is in that of its node. */
  readonly interfaces?: readonly InterfaceStats[]
}

/** What has gone through a network interface. CRI's NetworkInterfaceUsage, with what some runtimes tell beside it. */
export interface InterfaceStats {
  readonly name: string
  readonly received: TrafficStats
  readonly sent: TrafficStats
}

export interface TrafficStats {
  readonly bytes: number
  readonly errors: number
  /** Absent: not told. */
  readonly packets?: number
  readonly dropped?: number
}

/** What a container has on the disk of its node beside volumes. */
export interface ContainerStorage {
  readonly name: string
  /** Where the logs of all its runs are, and nothing else. */
  readonly logDirectory: string
  /** What it has written to its own file system; absent where that is none, or nobody counts it. */
  readonly layerBytes?: number
  /** A directory of its own in place of that. */
  readonly layerDirectory?: string
}

export interface ExecResult {
  readonly exitCode: number
  /** Both streams, up to `execOutputBytesMax`. */
  readonly output: string
}

/** How much output of a command the node agent keeps: upstream's probe limit. */
export const execOutputBytesMax = 10 * 1024

/** The runtime cannot be reached; the message says why. It may come back. */
export class RuntimeUnavailableError extends Error {
  override readonly name = 'RuntimeUnavailableError'
}

/** What was asked of a container cannot be had on this runtime: reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
}

/** The image of a container cannot be had: reason ErrImagePull, and ImagePullBackOff until it is tried again. */
export class ImagePullError extends Error {
  override readonly name = 'ImagePullError'
}

/** An image that a runtime has. CRI's Image. */
export interface Image {
  readonly id: string
  /** Names with a tag. */
  readonly repoTags: readonly string[]
  /** Names with a digest. */
  readonly repoDigests: readonly string[]
  readonly sizeBytes: number
  /** The user that it runs as, in numbers or by name. Absent: not said, which is root. */
  readonly uid?: number
  readonly username?: string
  /** Whether it is to stay, as what sandboxes are made of. */
  readonly pinned: boolean
}

/** Who is at a registry. CRI's AuthConfig. */
export interface RegistryCredentials {
  readonly username?: string
  readonly password?: string
  readonly auth?: string
  readonly serverAddress?: string
  readonly identityToken?: string
  readonly registryToken?: string
}

/** How full the file system of a runtime's images is. */
export interface ImageFileSystem {
  readonly path: string
  readonly capacityBytes: number
  readonly availableBytes: number
}

/** The images of a runtime. CRI's ImageService. */
export interface ImageService {
  list(): Promise<readonly Image[]>
  /** Undefined where there is none of this name, or with this id. */
  status(image: string): Promise<Image | undefined>
  /** Gives what containers are to call it. Rejects with an `ImagePullError`. Aborting the signal ends it. */
  pull(image: string, credentials: RegistryCredentials | undefined, signal: AbortSignal): Promise<string>
  /** Removes it with all its names. */
  remove(id: string): Promise<void>
  fileSystem(): Promise<ImageFileSystem>
  /** Where it is kept by whom images were pulled. Absent: that is not kept, and each is for all pods. */
  readonly recordsDirectory?: string
}

/** One way in which a runtime runs pods: what runtime classes name. CRI's RuntimeHandler. */
export interface RuntimeHandler {
  /** Empty: the way of pods without a runtime class. */
  readonly name: string
  readonly features: {
    /** Whether a mount can be read-only with all that is mounted below it. */
    readonly recursiveReadOnlyMounts: boolean
    /** Whether pods can have users of their own. */
    readonly userNamespaces: boolean
  }
}

/** Whether a runtime can run containers. CRI's RuntimeStatus. */
export interface RuntimeStatus {
  /** Why it cannot, in upstream's words; none where it can. */
  readonly problems: readonly string[]
  /** Why pods get no network of their own, if only that is missing. */
  readonly networkProblem?: string
}

/**
 * What runs containers. The calls are those of the Container Runtime Interface that a node agent needs
 * (https://kubernetes.io/docs/concepts/architecture/cri), with three differences that an adapter over gRPC can bridge:
 * lists give whole statuses, logs are read through the runtime because their format is its own, and times are epoch
 * milliseconds.
 *
 * All calls are idempotent where CRI's are: stopping what has stopped and removing what is gone succeed.
 * Failures reject with an Error whose message is for the user.
 */
export interface Runtime {
  /** Scheme of container ids (`process://…`). */
  readonly name: string
  readonly version: string
  /** Whether containers are real: simulated ones have no ports to probe and no commands to run. */
  readonly runsProcesses: boolean
  /** Whether containers have file systems, users and limits of their own: then configurations come with their `isolation`. */
  readonly isolates?: boolean
  /**
   * Whether volumes can be at any path of a container whose file system is otherwise the host's, over files and directories of that, too. Where
   * containers have file systems of their own, and where there are none, it is absent. To ask the first time may take some milliseconds.
   */
  readonly hasPrivateMounts?: boolean
  /** Absent: images are names only, and nothing is pulled. */
  readonly images?: ImageService
  /** What its nodes can do that not all do. */
  readonly supportsGroupsPolicy?: boolean
  /** As of when it could last run containers and was asked for its `status`. Absent, or none: it does not say. */
  readonly handlers?: readonly RuntimeHandler[]
  /** Whether it can run containers. Absent: it always can. Never rejects. */
  status?(): Promise<RuntimeStatus>
  /** Gives a container that runs other resources. Absent: nothing is limited. */
  updateContainerResources?(id: string, resources: LinuxResources): Promise<void>
  /** Calls back whenever a container has stopped or is no longer unready; several such may come as one. Returns the way to end that. */
  subscribe(listener: (event: ContainerStoppedEvent) => void): () => void

  /** Sandboxes, of one pod or all. */
  listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]>
  runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus>
  /** Kills what still runs in it; its address is free afterwards. */
  stopPodSandbox(id: string): Promise<void>
  /** Forgets it, its containers and their logs. */
  removePodSandbox(id: string): Promise<void>
  /** Forgets a pod that is gone and whose sandbox could not be made. Absent: nothing is kept of such. */
  forgetPod?(podUid: string): Promise<void>

  /** Containers, of one pod or all. */
  listContainers(podUid?: string): Promise<readonly ContainerRuntimeStatus[]>
  /** Gives the id. Rejects with a `ContainerConfigError` where the configuration asks for what cannot be. */
  createContainer(sandboxId: string, config: ContainerConfig): Promise<string>
  /**
   * Rejects where the command cannot be run; the container is then `exited` with reason StartError. Aborting the signal may end a
   * start that takes long: it rejects, and the container has not run.
   */
  startContainer(id: string, signal?: AbortSignal): Promise<void>
  /**
   * Asks it to stop, kills it `timeoutMs` later, and resolves when it is gone. A second call may shorten the wait of
   * the first, never lengthen it.
   */
  stopContainer(id: string, timeoutMs: number): Promise<void>
  /** Forgets a container that does not run, and its log. */
  removeContainer(id: string): Promise<void>
  /** What these containers use; those that do not run, and those of which it cannot be told, are left out. */
  containerStats(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerStats>>
  /** What the containers of a pod have on disk, each once. Absent: of none it can be told. */
  containerStorage?(podUid: string): Promise<readonly ContainerStorage[]>
  /** What sandboxes use, by their ids; those of which it cannot be told are left out. Absent: of none it can be told. */
  podSandboxStats?(): Promise<ReadonlyMap<string, PodSandboxStats>>
  /**
   * Runs a command beside the container's own process, and keeps what it says. Rejects when it cannot be started or the
   * signal is aborted. `timeoutMs` is when that will be, for runtimes that end commands themselves; absent or 0: nobody knows.
   */
  execSync(id: string, command: readonly string[], signal: AbortSignal, timeoutMs?: number): Promise<ExecResult>
  /**
   * As `execSync`, with the caller's streams, and a terminal where `tty`. Resolves with the exit code when all output has been
   * written. Aborting the signal ends the command and rejects.
   */
  exec(
    id: string,
    command: readonly string[],
    tty: boolean,
    streams: CommandStreams,
    signal: AbortSignal,
  ): Promise<number>
  /** Connects streams to the container's own process. Resolves when that has ended; rejects where it does not run. */
  attach(id: string, streams: CommandStreams, signal: AbortSignal): Promise<void>
  /** Connects a stream to a port of a sandbox, until either side ends. Rejects where nothing listens there. */
  portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void>
  /** The log in pieces as they come. With `follow` it ends when the container has stopped and all is read. */
  readLog(id: string, options: LogReadOptions, signal: AbortSignal): AsyncIterable<Uint8Array>

  /** Stops watching. Containers run on: whoever opens the runtime's directory next takes them up. */
  close(): Promise<void>
}
