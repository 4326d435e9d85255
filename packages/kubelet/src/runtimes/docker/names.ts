import type { CriRequest } from '../cri/calls.ts'
import { labels as podLabels } from '../cri/names.ts'

/** Labels as the adapter of upstream's kubelet to Docker gives them: containers have no annotations there. */
export const dockerLabels = {
  /** What a container is: `podsandbox` or `container`. */
  type: 'io.kubernetes.docker.type',
  sandboxId: 'io.kubernetes.sandbox.id',
  logPath: 'io.kubernetes.container.logpath',
  attempt: 'io.kubernetes.container.attempt',
} as const

/** The values of `dockerLabels.type`. */
export const sandboxType = 'podsandbox'
export const containerType = 'container'

/** What begins the name of a label that is an annotation. */
const annotationPrefix = 'annotation.'

type TextMap = Readonly<Record<string, string>>

/** Annotations as labels. */
export const asLabels = (annotations: TextMap): TextMap =>
  Object.fromEntries(Object.entries(annotations).map(([name, text]) => [annotationPrefix + name, text]))

/** The annotations among labels. */
export const annotationsIn = (labels: TextMap): TextMap =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name]) => name.startsWith(annotationPrefix))
      .map(([name, text]) => [name.slice(annotationPrefix.length), text]),
  )

/** The labels that are no annotations. */
export const labelsIn = (labels: TextMap): TextMap =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith(annotationPrefix)))

type Metadata = { readonly name: string; readonly uid: string; readonly namespace: string; readonly attempt: number }

/** The identity of a sandbox, from its labels. */
export const sandboxMetadata = (labels: TextMap): Metadata => ({
  name: labels[podLabels.podName] ?? '',
  uid: labels[podLabels.podUid] ?? '',
  namespace: labels[podLabels.podNamespace] ?? '',
  attempt: Number(labels[dockerLabels.attempt] ?? 0),
})

/** The identity of a container in its sandbox, from its labels. */
export const containerMetadata = (labels: TextMap): { readonly name: string; readonly attempt: number } => ({
  name: labels[podLabels.containerName] ?? '',
  attempt: Number(labels[dockerLabels.attempt] ?? 0),
})

/** `k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT`, with POD for the sandbox itself, as everywhere. */
export function containerName(container: string, pod: Metadata, attempt: number): string {
  return ['k8s', container, pod.name, pod.namespace, pod.uid, attempt].join('_')
}

/** Filters of a list by labels, as the API takes them. */
export function labelFilters(type: string | undefined, selector: TextMap): string {
  const typeLabel = type === undefined ? [] : [`${dockerLabels.type}=${type}`]
  return JSON.stringify({ label: [...typeLabel, ...Object.entries(selector).map(([name, text]) => `${name}=${text}`)] })
}

export type SandboxConfig = NonNullable<CriRequest<'runPodSandbox'>['config']>
export type CriContainerConfig = NonNullable<CriRequest<'createContainer'>['config']>
