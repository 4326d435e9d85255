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
  /** Address to take if it is free: the one the pod had before. */
  readonly preferredAddress?: string
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
  /** Where it is on the node; absent where the node agent cannot bring it there. */
  readonly hostPath?: string
  readonly readOnly?: boolean
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
  readonly image: string
  /** What the image resolved to, as `imageID` shows it. */
  readonly imageRef: string
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

/** What a container has used and uses now. CRI's ContainerStats. */
export interface ContainerStats {
  /** CPU time of all its processes since it was started, in milliseconds. */
  readonly cpuMs: number
  readonly memoryBytes: number
}

export interface ExecResult {
  readonly exitCode: number
  /** Both streams, up to `execOutputBytesMax`. */
  readonly output: string
}

/** How much output of a command the node agent keeps: upstream's probe limit. */
export const execOutputBytesMax = 10 * 1024

/** What was asked of a container cannot be had on this runtime: reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
}

/** The image of a container cannot be had: reason ErrImagePull, and ImagePullBackOff until it is tried again. */
export class ImagePullError extends Error {
  override readonly name = 'ImagePullError'
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
  /** Calls back whenever a container has stopped or is no longer unready; several such may come as one. Returns the way to end that. */
  subscribe(listener: (event: ContainerStoppedEvent) => void): () => void

  /** Sandboxes, of one pod or all. */
  listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]>
  runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus>
  /** Kills what still runs in it; its address is free afterwards. */
  stopPodSandbox(id: string): Promise<void>
  /** Forgets it, its containers and their logs. */
  removePodSandbox(id: string): Promise<void>

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
  /**
   * Runs a command beside the container's own process, and keeps what it says. Rejects when it cannot be started or the
   * signal is aborted.
   */
  execSync(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult>
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
