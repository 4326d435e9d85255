import { constants } from 'node:os'
import type { CriRequest } from '../cri/calls.ts'
import { containerStates, propagations } from '../cri/messages.ts'
import { signalName, signalNumber } from '../cri/signals.ts'
import type { InspectedContainer, ListedContainer } from './answers.ts'
import {
  annotationsIn,
  asLabels,
  type CriContainerConfig,
  containerMetadata,
  containerType,
  dockerLabels,
  labelsIn,
} from './names.ts'
import type { OomScore } from './sandbox-requests.ts'
import { securityOptions, userFields } from './security.ts'
import { nanos } from './times.ts'

/** Values of CRI's NamespaceMode. */
const modes = { pod: 0, node: 2, target: 3 } as const

/** What of a container is its place. */
export interface ContainerSurroundings {
  readonly sandboxId: string
  readonly logPath: string
  /** `docker` or `podman`. */
  readonly engine: string
  /** Of its pod; empty where that is the node's. */
  readonly hostname: string
  readonly oomScore: OomScore
  /** Beside those of its configuration. */
  readonly mounts: readonly { readonly containerPath: string; readonly hostPath: string; readonly readonly: boolean }[]
}

/** The body that creates a container. */
export function containerBody(config: CriContainerConfig, place: ContainerSurroundings) {
  const { image, command, args, workingDir, envs, labels, annotations, metadata, stdin, stdinOnce, tty } = config
  const { linux, stopSignal } = config
  const context = linux?.securityContext
  return {
    Image: image?.image ?? '',
    ...(command.length > 0 ? { Entrypoint: command } : {}),
    ...(args.length > 0 ? { Cmd: args } : {}),
    ...(workingDir === '' ? {} : { WorkingDir: workingDir }),
    Env: envs.map(({ key, value }) => `${key}=${value}`),
    // Docker takes it from the sandbox, and refuses to be told.
    ...(place.engine === 'podman' && place.hostname !== '' ? { Hostname: place.hostname } : {}),
    OpenStdin: stdin,
    StdinOnce: stdinOnce,
    Tty: tty,
    ...(stopSignal === 0 ? {} : { StopSignal: signalName(stopSignal) }),
    ...(context === undefined ? {} : userFields(context)),
    Labels: {
      ...labels,
      ...asLabels(annotations),
      [dockerLabels.type]: containerType,
      [dockerLabels.sandboxId]: place.sandboxId,
      [dockerLabels.logPath]: place.logPath,
      [dockerLabels.attempt]: String(metadata?.attempt ?? 0),
    },
    // A health check of the image is not Kubernetes'.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...namespaceFields(config, place.sandboxId),
      Mounts: [
        ...config.mounts.map(mountBody),
        ...place.mounts.map((each) => mountBody({ ...each, propagation: 0, recursiveReadOnly: false })),
      ],
      ...resourceFields(linux?.resources, place.oomScore),
      ...deviceFields(config),
      ...(context === undefined ? {} : securityFields(context, place.engine)),
      LogConfig: logConfig(place.engine),
    },
  }
}

function namespaceFields(config: CriContainerConfig, sandboxId: string) {
  const namespaces = config.linux?.securityContext?.namespaceOptions
  const onHost = namespaces?.network === modes.node
  return {
    NetworkMode: onHost ? 'host' : `container:${sandboxId}`,
    ...(onHost ? { UTSMode: 'host' } : {}),
    IpcMode: namespaces?.ipc === modes.node ? 'host' : `container:${sandboxId}`,
    ...pidField(namespaces?.pid, namespaces?.targetId ?? '', sandboxId),
  }
}

function pidField(mode: number | undefined, targetId: string, sandboxId: string): { readonly PidMode?: string } {
  if (mode === modes.node) return { PidMode: 'host' }
  if (mode === modes.target) return { PidMode: `container:${targetId}` }
  return mode === modes.pod ? { PidMode: `container:${sandboxId}` } : {}
}

type CriMount = Omit<CriContainerConfig['mounts'][number], 'image' | 'imageSubPath' | 'uidMappings' | 'gidMappings'>

function mountBody({ hostPath, containerPath, readonly, propagation, recursiveReadOnly }: CriMount) {
  const names = {
    [propagations.None]: 'rprivate',
    [propagations.HostToContainer]: 'rslave',
    [propagations.Bidirectional]: 'rshared',
  }
  return {
    Type: 'bind',
    Source: hostPath,
    Target: containerPath,
    ReadOnly: readonly,
    BindOptions: {
      Propagation: names[propagation as keyof typeof names],
      // Otherwise Docker 25 and later make all that is mounted below read-only as well, from version 1.44 of the API on.
      ...(recursiveReadOnly ? { ReadOnlyForceRecursive: true } : readonly ? { ReadOnlyNonRecursive: true } : {}),
    },
  }
}

function deviceFields({ devices, cdiDevices }: Pick<CriContainerConfig, 'devices' | 'cdiDevices'>) {
  return {
    ...(devices.length === 0
      ? {}
      : {
          Devices: devices.map(({ hostPath, containerPath, permissions }) => ({
            PathOnHost: hostPath,
            PathInContainer: containerPath,
            CgroupPermissions: permissions,
          })),
        }),
    ...(cdiDevices.length === 0
      ? {}
      : { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: cdiDevices.map(({ name }) => name) }] }),
  }
}

type CriResources = NonNullable<NonNullable<CriContainerConfig['linux']>['resources']>

function resourceFields(resources: CriResources | undefined, oomScore: OomScore) {
  if (resources === undefined) return {}
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes: memory, oomScoreAdj } = resources
  return {
    CpuShares: cpuShares,
    ...(cpuQuota > 0 ? { CpuQuota: cpuQuota, CpuPeriod: cpuPeriod } : {}),
    // Beyond its memory there is nothing to swap to, as on other nodes.
    ...(memory > 0 ? { Memory: memory, MemorySwap: memory } : {}),
    OomScoreAdj: oomScore(oomScoreAdj),
  }
}

/** What changes the resources of a container that is there. */
export function updateBody({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memoryLimitInBytes: memory,
}: NonNullable<CriRequest<'updateContainerResources'>['linux']>) {
  return {
    ...(cpuShares > 0 ? { CpuShares: cpuShares } : {}),
    CpuQuota: cpuQuota > 0 ? cpuQuota : -1,
    ...(cpuPeriod > 0 ? { CpuPeriod: cpuPeriod } : {}),
    ...(memory > 0 ? { Memory: memory, MemorySwap: memory } : {}),
  }
}

/** The same, as Podman has it: the resources of the specification of container runtimes. */
export function podmanUpdateBody(resources: Parameters<typeof updateBody>[0]) {
  const {
    CpuShares: shares,
    CpuQuota: quota,
    CpuPeriod: period,
    Memory: limit,
    MemorySwap: swap,
  } = updateBody(resources)
  return { cpu: { shares, quota, period }, ...(limit === undefined ? {} : { memory: { limit, swap } }) }
}

type Context = NonNullable<NonNullable<CriContainerConfig['linux']>['securityContext']>

function securityFields(context: Context, engine: string) {
  const { privileged, capabilities, readonlyRootfs, supplementalGroups, maskedPaths, readonlyPaths } = context
  const unmasked = !privileged && maskedPaths.length === 0
  return {
    Privileged: privileged,
    CapAdd: capabilities?.addCapabilities ?? [],
    CapDrop: capabilities?.dropCapabilities ?? [],
    ReadonlyRootfs: readonlyRootfs,
    GroupAdd: supplementalGroups.map(String),
    ...(engine === 'podman' ? {} : { MaskedPaths: maskedPaths, ReadonlyPaths: readonlyPaths }),
    SecurityOpt: [...securityOptions(context, engine), ...(engine === 'podman' && unmasked ? ['unmask=ALL'] : [])],
  }
}

/** What the engine keeps of a log until it is in the node's own files. Podman's would be cut short while it is read. */
const logConfig = (engine: string) =>
  engine === 'podman'
    ? { Type: 'k8s-file', Config: {} }
    : { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } }

/** One container of a list, as CRI has it. */
export function listedContainer({ Id, State, Created, Labels, Image, ImageID }: ListedContainer) {
  const labels = Labels ?? {}
  return {
    id: Id,
    podSandboxId: labels[dockerLabels.sandboxId] ?? '',
    metadata: containerMetadata(labels),
    image: { image: Image },
    imageRef: ImageID,
    state: stateOf(State),
    createdAt: Created * 1e9,
    labels: labelsIn(labels),
    annotations: annotationsIn(labels),
  }
}

/** States of both engines: those of Podman beside Docker's are `configured`, `initialized`, `stopping` and `stopped`. */
function stateOf(state: string): number {
  if (['created', 'configured', 'initialized'].includes(state)) return containerStates.created
  return ['running', 'paused', 'restarting', 'stopping'].includes(state)
    ? containerStates.running
    : containerStates.exited
}

/** A container, as CRI has it; `image` is what its image is called, and what that resolved to. */
export function containerStatus(
  { Id, Created, State, Config, HostConfig, Mounts, Image }: InspectedContainer,
  image: { readonly name: string; readonly ref: string },
) {
  const labels = Config.Labels ?? {}
  const { state, reason } = outcomeOf(State)
  const isOver = state === containerStates.exited
  const asked = new Map(HostConfig?.Mounts?.map(({ Target, BindOptions }) => [Target, BindOptions]))
  // One that could not be started has neither begun nor ended.
  const finishedAt = isOver ? nanos(State.FinishedAt) || nanos(Created) : 0
  return {
    id: Id,
    metadata: containerMetadata(labels),
    state,
    createdAt: nanos(Created),
    startedAt: nanos(State.StartedAt),
    finishedAt,
    exitCode: isOver ? State.ExitCode : 0,
    reason,
    message: isOver ? (State.Error ?? '') : '',
    image: { image: image.name },
    imageRef: image.ref,
    imageId: imageId(Image),
    labels: labelsIn(labels),
    annotations: annotationsIn(labels),
    mounts: (Mounts ?? []).map(({ Source, Destination, RW }) => ({
      hostPath: Source,
      containerPath: Destination,
      readonly: !RW,
      recursiveReadOnly: asked.get(Destination)?.ReadOnlyForceRecursive === true,
    })),
    logPath: labels[dockerLabels.logPath] ?? '',
    stopSignal: signalNumber(asName(Config.StopSignal)),
  }
}

/** Podman of today gives a name, as Docker does; older ones a number. */
const asName = (signal: string | number = ''): string =>
  typeof signal === 'string'
    ? signal
    : (Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? '')

/** Podman leaves out what kind of digest it is. */
export const imageId = (id: string): string => (/^[0-9a-f]{64}$/.test(id) ? `sha256:${id}` : id)

function outcomeOf({ Status, ExitCode, OOMKilled, Error: failure = '', StartedAt }: InspectedContainer['State']) {
  const hasFailedToStart = nanos(StartedAt) === 0 && (ExitCode !== 0 || failure !== '')
  if (hasFailedToStart) return { state: containerStates.exited, reason: 'StartError' }
  const state = stateOf(Status)
  if (state !== containerStates.exited) return { state, reason: '' }
  if (OOMKilled === true) return { state, reason: 'OOMKilled' }
  return { state, reason: ExitCode === 0 ? 'Completed' : 'Error' }
}
