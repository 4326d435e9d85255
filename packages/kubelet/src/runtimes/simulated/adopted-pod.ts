import { type ContainerState, type ContainerStatus, type Pod, parseTime } from '@coracle/api'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtime.ts'

/** A pod that ran before, as a runtime has it. */
export interface AdoptedPod {
  readonly sandbox: PodSandboxStatus
  readonly containers: readonly ContainerRuntimeStatus[]
}

/**
 * What a pod's status says of the sandbox and the containers it has on its node, so that a runtime can go on from there;
 * undefined where nothing of it has been started, or it is over.
 */
export function adoptedPod(pod: Pod): AdoptedPod | undefined {
  const { metadata, spec, status = {} } = pod
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const isOver = status.phase === 'Succeeded' || status.phase === 'Failed'
  if (isOver || spec.nodeName === undefined || statuses.every(({ containerID = '' }) => containerID === ''))
    return undefined
  const podUid = metadata.uid ?? ''
  const startedAtMs = parseTime(status.startTime ?? metadata.creationTimestamp ?? '')
  const { podIPs = [], podIP } = status
  const addresses = podIPs.length > 0 ? podIPs.flatMap(({ ip }) => ip ?? []) : podIP === undefined ? [] : [podIP]
  const sandbox: PodSandboxStatus = {
    id: `sandbox-${podUid}`,
    podUid,
    podName: metadata.name ?? '',
    podNamespace: metadata.namespace ?? '',
    attempt: 0,
    ready: true,
    createdAtMs: startedAtMs,
    addresses: spec.hostNetwork === true ? [] : addresses,
  }
  return { sandbox, containers: statuses.flatMap((each) => adoptedContainer(each, sandbox)) }
}

function adoptedContainer(status: ContainerStatus, sandbox: PodSandboxStatus): readonly ContainerRuntimeStatus[] {
  const { name, containerID = '', image = '', imageID = '', restartCount = 0, state = {}, lastState = {} } = status
  if (containerID === '') return []
  const common = {
    id: containerID.slice(containerID.indexOf('://') + (containerID.includes('://') ? 3 : 0)),
    sandboxId: sandbox.id,
    podUid: sandbox.podUid,
    name,
    attempt: restartCount,
    image,
    imageRef: imageID,
  }
  const startedAtMs =
    parseTime(state.running?.startedAt ?? endOf(state, lastState)?.startedAt ?? '') || sandbox.createdAtMs
  if (state.running !== undefined) return [{ ...common, state: 'running', createdAtMs: startedAtMs, startedAtMs }]
  const ended = endOf(state, lastState)
  if (ended === undefined) return []
  const { exitCode = 0, reason, message, finishedAt } = ended
  return [
    {
      ...common,
      state: 'exited',
      createdAtMs: startedAtMs,
      startedAtMs,
      finishedAtMs: finishedAt === undefined ? startedAtMs : parseTime(finishedAt),
      exitCode,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    },
  ]
}

/** How a container ended that does not run: its last run, where it waits for the next. */
const endOf = (state: ContainerState, lastState: ContainerState) => state.terminated ?? lastState.terminated
