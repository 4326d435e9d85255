import { type Container, deepEqual, type PodSpec, type ResourceList } from '@coracle/api'
import { byName, containerLists } from './given-resources.ts'

/** The containers that have other resources in another version of a pod, as they are there. */
function resizedContainers(spec: PodSpec, before: PodSpec): readonly Container[] {
  return containerLists.flatMap((list) => {
    const named = byName(before[list])
    return (spec[list] ?? []).filter((container) => {
      const old = named(container.name)
      return old !== undefined && !deepEqual(old.resources ?? {}, container.resources ?? {})
    })
  })
}

/** Whether a pod has other resources in another version of it, as a whole or in one of its containers. */
export function isResized(spec: PodSpec, before: PodSpec): boolean {
  return !deepEqual(spec.resources ?? {}, before.resources ?? {}) || resizedContainers(spec, before).length > 0
}

/**
 * The containers of a pod that start anew for what has changed of their resources since another version of it, as they are there. One without
 * a limit of its own has that of its pod.
 */
export function restartedForResize(spec: PodSpec, before: PodSpec): readonly Container[] {
  return containerLists.flatMap((list) => {
    const named = byName(before[list])
    return (spec[list] ?? []).flatMap((container) => {
      const old = named(container.name)
      const isConcerned = (container.resizePolicy ?? []).some(
        ({ resourceName, restartPolicy }) =>
          restartPolicy === 'RestartContainer' &&
          old !== undefined &&
          !deepEqual(amounts(container, spec, resourceName), amounts(old, before, resourceName)),
      )
      return isConcerned && old !== undefined ? [old] : []
    })
  })
}

/** The containers of a pod that go on with what has changed of their resources since another version of it, by name. */
export function resizedInPlace(spec: PodSpec, before: PodSpec): readonly string[] {
  const restarted = new Set(restartedForResize(spec, before).map(({ name }) => name))
  // One without a limit of its own has that of its pod.
  const concerned = deepEqual(spec.resources ?? {}, before.resources ?? {})
    ? resizedContainers(spec, before)
    : containerLists.flatMap((list) => spec[list] ?? [])
  return concerned.map(({ name }) => name).filter((name) => !restarted.has(name))
}

const amounts = ({ resources }: Container, pod: PodSpec, name: string): readonly (string | undefined)[] => [
  resources?.requests?.[name],
  resources?.limits?.[name] ?? pod.resources?.limits?.[name],
]

/** What events tell of a change of resources, as upstream writes it: what all containers are to have. */
export function resizeText(
  { initContainers = [], containers }: PodSpec,
  generation: number | undefined,
  error?: string,
): string {
  const shown = (list: readonly Container[]) =>
    list.map(({ name, resources: { limits, requests, claims } = {} }) => ({
      name,
      resources: { limits: sorted(limits), requests: sorted(requests), claims },
    }))
  return JSON.stringify({
    initContainers: initContainers.length === 0 ? undefined : shown(initContainers),
    containers: shown(containers),
    generation,
    error,
  })
}

/** In the order of the names, as Go writes maps. */
const sorted = (list: ResourceList | undefined): ResourceList | undefined =>
  list && Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)))
