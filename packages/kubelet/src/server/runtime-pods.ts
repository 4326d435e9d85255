import type { Pod } from '@coracle/api'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import type { ServedNode } from './served-node.ts'

/** A pod of a node, and what its runtime has of it. */
export interface RuntimePod {
  readonly pod: Pod
  readonly sandboxes: readonly PodSandboxStatus[]
  readonly containers: readonly ContainerRuntimeStatus[]
}

/** The pods of a node with what its runtime has of them: a runtime of real containers is asked once, and one that many nodes share for each pod. */
export async function runtimePods({ runtime, pods }: ServedNode): Promise<readonly RuntimePod[]> {
  if (!runtime.runsProcesses) {
    return Promise.all(
      pods().map(async (pod) => {
        const uid = pod.metadata.uid ?? ''
        const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(uid), runtime.listContainers(uid)])
        return { pod, sandboxes, containers }
      }),
    )
  }
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(), runtime.listContainers()])
  const [sandboxesOf, containersOf] = [
    Map.groupBy(sandboxes, ({ podUid }) => podUid),
    Map.groupBy(containers, ({ podUid }) => podUid),
  ]
  return pods().map((pod) => {
    const uid = pod.metadata.uid ?? ''
    return { pod, sandboxes: sandboxesOf.get(uid) ?? [], containers: containersOf.get(uid) ?? [] }
  })
}
