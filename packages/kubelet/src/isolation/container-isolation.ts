import type { Container, EphemeralContainer, Pod } from '@coracle/api'
import type { ContainerIsolation, Image } from '../runtimes/runtime.ts'
import { linuxResources } from './linux-resources.ts'
import type { IsolatingNode } from './sandbox-isolation.ts'
import { containerSecurity } from './security.ts'

/** What of a container only a runtime can make come true that isolates containers. `image` is what it runs, as far as that is known. */
export function containerIsolation(
  pod: Pod,
  container: Container,
  image: Image | undefined,
  node: Pick<IsolatingNode, 'memoryBytes'>,
  idOf: (containerName: string) => string | undefined,
): ContainerIsolation {
  const { targetContainerName = '' } = container as EphemeralContainer
  const targetId = targetContainerName === '' ? undefined : idOf(targetContainerName)
  return {
    ...containerSecurity(pod, container, image ?? {}, targetId),
    ownUsers: pod.spec.hostUsers === false,
    labels: {},
    annotations: annotationsOf(pod, container),
    resources: linuxResources(container, pod, node.memoryBytes),
  }
}

/** What upstream's node agent keeps with containers, for those who look at the runtime itself. */
function annotationsOf({ spec }: Pod, { ports = [], lifecycle }: Container): Readonly<Record<string, string>> {
  const { terminationGracePeriodSeconds } = spec
  return {
    ...(terminationGracePeriodSeconds === undefined
      ? {}
      : { 'io.kubernetes.pod.terminationGracePeriod': String(terminationGracePeriodSeconds) }),
    ...(ports.length === 0 ? {} : { 'io.kubernetes.container.ports': JSON.stringify(ports) }),
    ...(lifecycle?.preStop === undefined
      ? {}
      : { 'io.kubernetes.container.preStopHandler': JSON.stringify(lifecycle.preStop) }),
  }
}
