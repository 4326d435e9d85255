/** The first release of each minor version whose answers about the progress of a watch come after the events before them. */
const firstReliable: ReadonlyMap<string, number> = new Map([
  ['3.4', 25],
  ['3.5', 8],
])

/**
 * Whether an etcd of a version answers how far a watch is only once it has delivered all events before that. Earlier ones may
 * answer too soon: https://github.com/etcd-io/etcd/issues/15220.
 */
export function tellsProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('-')[0]?.split('.').map(Number) ?? []
  const first = firstReliable.get(`${major}.${minor}`)
  return first === undefined ? major > 3 || (major === 3 && minor > 5) : patch >= first
}
