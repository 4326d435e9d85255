import type { ContainerConfig, PodSandboxConfig } from '../runtime.ts'

/** Whose a sandbox or container is: others may use the same runtime, and theirs is left alone. */
export const agentLabel = 'coracle.dev/agent'

/** Selects the sandboxes and containers of an agent: those of a pod, or all. */
export function selectorOf(agent: string, podUid?: string): Readonly<Record<string, string>> {
  const own = { [agentLabel]: agent }
  return podUid === undefined ? own : { ...own, [labels.podUid]: podUid }
}

/** Labels by which `crictl` and others know what belongs to a pod (upstream's kubelet/pkg/types). */
export const labels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
} as const

/** What is kept with a container for the next life of the node agent. */
export const annotations = {
  /** As the pod names it: the runtime has names of its own. */
  image: 'coracle.dev/image',
  /** Whether it has a terminal, which the runtime wants to be told again by those who attach to it. */
  terminal: 'coracle.dev/terminal',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
} as const

/** The policy by which a run that fails without last words has the last lines of its log for a message. */
export const fallbackToLogs = 'FallbackToLogsOnError'

type PodIdentity = Pick<PodSandboxConfig, 'podName' | 'podNamespace' | 'podUid'>

export const podLabels = ({ podName, podNamespace, podUid }: PodIdentity): Readonly<Record<string, string>> => ({
  [labels.podName]: podName,
  [labels.podNamespace]: podNamespace,
  [labels.podUid]: podUid,
})

export const containerLabels = ({ name }: ContainerConfig, pod: PodIdentity): Readonly<Record<string, string>> => ({
  ...podLabels(pod),
  [labels.containerName]: name,
})

export const containerAnnotations = (config: ContainerConfig): Readonly<Record<string, string>> => ({
  [annotations.image]: config.image,
  [annotations.terminal]: String(config.tty === true),
  [annotations.restartCount]: String(config.attempt),
  [annotations.terminationMessagePath]: config.terminationMessagePath ?? '',
  [annotations.terminationMessagePolicy]: config.messageFromLog ? fallbackToLogs : 'File',
})
