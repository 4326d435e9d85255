import { type Container, isSidecar, type Pod } from '@coracle/api'

/** Whether a container is there to do something and end: an init container that is no sidecar, or one of a pod that is not always restarted. */
export function isTask({ spec }: Pod, container: Container): boolean {
  const isInit = spec.initContainers?.some(({ name }) => name === container.name) === true
  return isInit ? !isSidecar(container) : (spec.restartPolicy ?? 'Always') !== 'Always'
}
