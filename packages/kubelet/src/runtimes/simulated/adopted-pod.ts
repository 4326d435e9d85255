import { type ContainerStateTerminated, type ContainerStatus, type Pod, parseTime } from '@coracle/api'
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
  const statuses = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ]
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
  return { sandbox, containers: statuses.flatMap((each) => adoptedRuns(each, sandbox)) }
}

/** The run a container is in, or was in last, and the one before where its status still tells of it. */
function adoptedRuns(status: ContainerStatus, sandbox: PodSandboxStatus): readonly ContainerRuntimeStatus[] {
  const { name, containerID = '', image = '', imageID = '', restartCount = 0, state = {}, lastState = {} } = status
  if (containerID === '') return []
  const run = (id: string, attempt: number, ended: ContainerStateTerminated): ContainerRuntimeStatus => {
    const startedAtMs = parseTime(ended.startedAt ?? '') || sandbox.createdAtMs
    const { exitCode = 0, reason, message, finishedAt } = ended
    return {
      ...common,
      id: plainId(id),
      attempt,
      state: 'exited',
      createdAtMs: startedAtMs,
      startedAtMs,
      finishedAtMs: finishedAt === undefined ? startedAtMs : parseTime(finishedAt),
      exitCode,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    }
  }
  const common = { sandboxId: sandbox.id, podUid: sandbox.podUid, name, image, imageRef: imageID }
  const { terminated: last } = lastState
  const { running, terminated } = state
  // One that waits for its next run has its last under `lastState`, and shows that one's id.
  if (running === undefined && terminated === undefined)
    return last === undefined ? [] : [run(containerID, restartCount, last)]
  const before = last?.containerID === undefined ? [] : [run(last.containerID, restartCount - 1, last)]
  if (terminated !== undefined) return [...before, run(containerID, restartCount, terminated)]
  const startedAtMs = parseTime(running?.startedAt ?? '') || sandbox.createdAtMs
  const id = plainId(containerID)
  return [...before, { ...common, id, attempt: restartCount, state: 'running', createdAtMs: startedAtMs, startedAtMs }]
}

/** Without the name of the runtime. */
const plainId = (containerId: string): string => containerId.slice(containerId.lastIndexOf('/') + 1)
