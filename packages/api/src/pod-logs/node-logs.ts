import type { ContainerStatus, Pod } from '../kinds/index.ts'

/** What is at a path below `/logs/`, where kubelets show the directory of logs of their host. */
export type NodeLog =
  | { readonly kind: 'directory'; readonly entries: readonly string[] }
  | { readonly kind: 'log'; readonly pod: Pod; readonly container: string; readonly previous: boolean }

/**
 * Finds what the parts of a path below `/logs/` name, as containers' logs lie on a host:
 * `pods/NAMESPACE_POD_UID/CONTAINER/RESTARTS.log`. Of a container there are the logs of its last two runs. Undefined where there is nothing.
 */
export function nodeLog(parts: readonly string[], pods: readonly Pod[]): NodeLog | undefined {
  const [top, podDirectory, container, file, ...more] = parts
  if (top === undefined) return directory(['pods/'])
  if (top !== 'pods' || more.length > 0) return undefined
  if (podDirectory === undefined) return directory(pods.map((pod) => `${directoryOf(pod)}/`))
  const pod = pods.find((each) => directoryOf(each) === podDirectory)
  if (pod === undefined) return undefined
  const runs = runsOf(pod)
  if (container === undefined) return directory([...runs.keys()].map((name) => `${name}/`))
  const files = runs.get(container)
  if (files === undefined) return undefined
  if (file === undefined) return directory([...files.keys()])
  const previous = files.get(file)
  return previous === undefined ? undefined : { kind: 'log', pod, container, previous }
}

/** A directory as Go's file server lists it. `path` is where it was found: links are relative to that. */
export function listing(path: string, entries: readonly string[]): string {
  const base = path.endsWith('/') ? '' : `${path.slice(path.lastIndexOf('/') + 1)}/`
  return `<pre>\n${entries.map((entry) => `<a href="${base}${entry}">${entry}</a>\n`).join('')}</pre>\n`
}

const directory = (entries: readonly string[]): NodeLog => ({ kind: 'directory', entries: entries.toSorted() })

const directoryOf = ({ metadata: { namespace = '', name = '', uid = '' } }: Pod): string =>
  `${namespace}_${name}_${uid}`

/** The log files of each container that has run, and whether they are of the run before. */
function runsOf({ status }: Pod): ReadonlyMap<string, ReadonlyMap<string, boolean>> {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
  return new Map(all.map((each) => [each.name, filesOf(each)] as const).filter(([, files]) => files.size > 0))
}

function filesOf({ restartCount = 0, state, lastState }: ContainerStatus): ReadonlyMap<string, boolean> {
  const files = new Map<string, boolean>()
  if (lastState?.terminated !== undefined && restartCount > 0) files.set(`${restartCount - 1}.log`, true)
  if (state?.running !== undefined || state?.terminated !== undefined) files.set(`${restartCount}.log`, false)
  return files
}
