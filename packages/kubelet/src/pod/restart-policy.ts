import { type Container, isSidecar, type PodSpec, restartsAfter } from '@coracle/api'

/** Whether an init container that failed with `exitCode` is tried again. One that succeeded never is, unless a sidecar. */
export function initRestartsAfter(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (isSidecar(container)) return true
  return exitCode !== 0 && restartsAfter(container, spec, exitCode)
}

/** Whether a container that the node agent itself has stopped starts again, however it ended. */
export function startsOver(container: Container, spec: PodSpec): boolean {
  return (container.restartPolicy ?? spec.restartPolicy) !== 'Never'
}
