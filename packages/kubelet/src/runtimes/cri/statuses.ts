import type { Decoded } from '@coracle/environment/grpc'
import { complete } from '@coracle/environment/grpc-messages'
import type { ContainerRuntimeState, ContainerRuntimeStatus, ContainerUser } from '../runtime.ts'
import { containerStates, containerStatus, type imageSpec, type listContainersResponse } from './messages.ts'
import { annotations, labels } from './names.ts'
import { signalName } from './signals.ts'

/** What the runtime says of a container. */
export type CriContainerStatus = Decoded<typeof containerStatus>

const nanosPerMs = 1_000_000

/** A point in time of CRI, in epoch milliseconds; undefined where it has yet to come. */
const timeOf = (nanos: number): number | undefined => (nanos > 0 ? nanos / nanosPerMs : undefined)

/** The state of a container. One of which the runtime has lost track counts as ended: it is replaced, and removed with what is left of it. */
export function stateOf(state: number): ContainerRuntimeState {
  if (state === containerStates.created) return 'created'
  return state === containerStates.running ? 'running' : 'exited'
}

/** What a list tells of a container, where its status cannot be had. */
export function listedStatus({
  metadata,
  image,
  ...listed
}: Decoded<typeof listContainersResponse>['containers'][number]): CriContainerStatus {
  const parts = { ...(metadata === undefined ? {} : { metadata }), ...(image === undefined ? {} : { image }) }
  return complete(containerStatus, { ...listed, ...parts })
}

/** A container of a sandbox as the node agent knows it; `message` is what it said of its end. */
export function runtimeStatus(status: CriContainerStatus, sandboxId: string, message: string): ContainerRuntimeStatus {
  const { id, metadata, image, imageRef, imageId, exitCode, reason } = status
  const state = stateOf(status.state)
  const startedAtMs = timeOf(status.startedAt)
  const askedImage = status.annotations[annotations.image]
  const mountedImages = status.mounts.flatMap((mount) => (mount.image === undefined ? [] : [mount.image.image]))
  const recursiveReadOnly = status.mounts.filter((mount) => mount.recursiveReadOnly).map((mount) => mount.containerPath)
  const user = userOf(status)
  const stopSignal = signalName(status.stopSignal)
  return {
    id,
    sandboxId,
    podUid: status.labels[labels.podUid] ?? '',
    name: metadata?.name ?? '',
    attempt: metadata?.attempt ?? 0,
    image: nameOf(image, imageRef),
    ...(askedImage === undefined ? {} : { askedImage }),
    imageRef: imageRef || imageId,
    ...(mountedImages.length === 0 ? {} : { mountedImages }),
    ...(recursiveReadOnly.length === 0 ? {} : { recursiveReadOnly }),
    state,
    createdAtMs: timeOf(status.createdAt) ?? 0,
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(state === 'exited' ? endOf(status, exitCode, reason, message) : {}),
    ...(user === undefined ? {} : { user }),
    ...(stopSignal === undefined ? {} : { stopSignal }),
  }
}

const nameOf = (image: Decoded<typeof imageSpec> | undefined, imageRef: string): string => image?.image || imageRef

function endOf(status: CriContainerStatus, exitCode: number, reason: string, message: string) {
  const lost = status.state === containerStates.unknown
  const finishedAtMs = timeOf(status.finishedAt)
  const said = [status.message, message].filter((text) => text !== '').join(': ')
  return {
    exitCode: lost ? lostExitCode : exitCode,
    ...(finishedAtMs === undefined ? {} : { finishedAtMs }),
    ...(lost ? { reason: 'ContainerStatusUnknown' } : reason === '' ? {} : { reason }),
    ...(said === '' ? {} : { message: said }),
  }
}

/** As if it had been killed. */
const lostExitCode = 137

function userOf({ user }: CriContainerStatus): ContainerUser | undefined {
  const linux = user?.linux
  if (linux === undefined) return undefined
  const { uid, gid, supplementalGroups } = linux
  return { uid, gid, supplementalGroups }
}
