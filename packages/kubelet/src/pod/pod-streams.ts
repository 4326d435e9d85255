import type { ContainerStatus, Pod } from '@coracle/api'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import type { Runtime } from '../runtimes/runtime.ts'
import { podUidOf } from './pod-name.ts'

/**
 * What runs a command in a container of a pod. Throws an Error in upstream's words where no container of that name runs, or
 * its runtime runs nothing.
 */
export function podExec(
  runtime: Runtime,
  statuses: readonly ContainerStatus[],
  { container, command, tty }: ExecOptions,
): RunCommand {
  const id = runningContainer(runtime, statuses, container)
  return (streams, signal) => runtime.exec(id, command, tty, streams, signal)
}

/** What connects streams to a container of a pod. Throws as `podExec`. */
export function podAttach(
  runtime: Runtime,
  statuses: readonly ContainerStatus[],
  { container }: AttachOptions,
): RunCommand {
  const id = runningContainer(runtime, statuses, container)
  return async (streams, signal) => {
    await runtime.attach(id, streams, signal)
    return 0
  }
}

/** What connects streams to ports of a pod. Rejects where the pod does not run, or its runtime runs nothing. */
export async function podPortForward(runtime: Runtime, pod: Pod): Promise<ForwardPort> {
  checkRuns(runtime)
  const { name = '', namespace = '' } = pod.metadata
  const sandboxes = await runtime.listPodSandboxes(podUidOf(pod))
  const sandbox = sandboxes.find(({ ready }) => ready)
  if (sandbox === undefined) throw new Error(`pod not found ("${name}_${namespace}")`)
  return (port, stream, signal) => runtime.portForward(sandbox.id, port, stream, signal)
}

function runningContainer(runtime: Runtime, statuses: readonly ContainerStatus[], name: string): string {
  checkRuns(runtime)
  const status = statuses.find((each) => each.name === name)
  if (status?.state?.running === undefined || status.containerID === undefined) {
    throw new Error(`container not found ("${name}")`)
  }
  return status.containerID.replace(`${runtime.name}://`, '')
}

function checkRuns({ runsProcesses, name }: Runtime): void {
  if (runsProcesses) return
  throw new Error(
    `containers of the ${name} runtime run nothing that one could talk to; start the cluster with --runtime process`,
  )
}
