import { type Container, type Pod, restartsAllAfter } from '@coracle/api'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { runsOf } from '../status/container-statuses.ts'
import type { PodAction, PodObservation } from './plan-pod.ts'

const because = 'a container ended with an exit code for which all of its pod starts anew'

/** A container has ended in a way for which all containers of its pod start anew (KEP-5532), and is not removed yet. */
export function isRestartingAll(pod: Pod, runs: readonly ContainerRuntimeStatus[]): boolean {
  return everyContainer(pod).some((container) => {
    const [run] = runsOf(container.name, runs)
    return run !== undefined && isCause(container, run)
  })
}

/**
 * Has a pod start anew in the sandbox it has: its containers are killed, their hooks left out, and removed, regular ones before
 * init containers. Those whose end asked for it come last: while one of them is there, what is left of the rest is still removed.
 */
export function restartAll({ pod, runs }: PodObservation): readonly PodAction[] {
  const containers = everyContainer(pod)
  const running = runs.filter(({ name, state }) => state === 'running' && containers.some((each) => each.name === name))
  if (running.length > 0)
    return running.map((run) => ({
      type: 'stop-container',
      run,
      gracePeriodMs: 0,
      message: 'killing',
      restart: true,
      because,
    }))
  const known = containers.flatMap((container) =>
    runsOf(container.name, runs).map(({ id, ...run }) => ({ id, last: isCause(container, run) })),
  )
  const inOrder = [...known.filter(({ last }) => !last), ...known.filter(({ last }) => last)]
  return inOrder.map(({ id }) => ({ type: 'remove-container', id, because }))
}

/** Regular containers first. Ephemeral ones run once, whatever becomes of the others. */
function everyContainer({ spec }: Pod): readonly Container[] {
  return [...spec.containers, ...(spec.initContainers ?? [])]
}

const isCause = (container: Container, { state, exitCode = 0 }: Pick<ContainerRuntimeStatus, 'state' | 'exitCode'>) =>
  state === 'exited' && restartsAllAfter(container, exitCode)
