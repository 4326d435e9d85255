import { type Container, type ContainerStatus, isSidecar, type PodSpec } from '@coracle/api'

/**
 * The statuses of a pod of which nothing runs any more: containers that did not get to say how they ended are said to
 * have failed, but for those the pod never came to (upstream's TerminatePod).
 */
export function finalStatuses(
  spec: PodSpec,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
): { readonly init: readonly ContainerStatus[]; readonly regular: readonly ContainerStatus[] } {
  const reached = Math.max(1, init.findLastIndex(hasBegun) + 1)
  return {
    init: init.map((status, index) => (index < reached ? ended(status) : status)),
    regular: isInitialized(spec, init, regular) ? regular.map(ended) : regular,
  }
}

function ended(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated !== undefined) return status
  return {
    ...status,
    state: {
      terminated: {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The container could not be located when the pod was terminated',
      },
    },
    ready: false,
    started: false,
  }
}

function isInitialized(
  { initContainers = [] }: PodSpec,
  init: readonly ContainerStatus[],
  regular: readonly ContainerStatus[],
): boolean {
  const last = initContainers.at(-1)
  if (last === undefined || regular.some(hasBegun)) return true
  return isDone(
    last,
    init.find(({ name }) => name === last.name),
  )
}

function hasBegun({ state, lastState }: ContainerStatus): boolean {
  return state?.waiting === undefined || lastState?.terminated !== undefined
}

function isDone(container: Container, status: ContainerStatus | undefined): boolean {
  if (isSidecar(container)) return status?.state?.running !== undefined && status.started === true
  const { state, lastState } = status ?? {}
  return state?.terminated?.exitCode === 0 || lastState?.terminated?.exitCode === 0
}
