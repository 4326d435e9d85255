import type { PodNames } from './pod-names.ts'

/** What every host knows. */
const ownNames = `127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`

/**
 * The host names that a pod's containers know, as upstream's kubelet writes them: those of the pod, or of the node where it shares the
 * node's network (`nodeHosts`), and those that the pod adds.
 */
export function hostsFile(pod: PodNames, addresses: readonly string[], nodeHosts: string | undefined): string {
  const added = aliases(pod)
  if (nodeHosts !== undefined) return `${header(true)}${nodeHosts}${added}`
  return `${header(false)}${ownNames}${ownLines(pod, addresses)}${added}`
}

/**
 * The same for processes that share the network of their node whatever their pod says: they know the names of their pod, those that it adds, and
 * `shared`. A name that the pod has or adds is nobody else's.
 */
export function processHostsFile(
  pod: PodNames & { readonly hostNetwork: boolean },
  addresses: readonly string[],
  shared: string,
): string {
  const own = `${header(pod.hostNetwork)}${pod.hostNetwork ? '' : ownLines(pod, addresses)}${aliases(pod)}`
  const taken = namesIn(own)
  taken.delete(localhost)
  return `${own}\n${mentions(shared, taken) ? withoutNames(shared, taken) : shared}`
}

/**
 * What processes know beside that: the names of their node, and lines of services. Services win, as they do where a resolver asks for names of the
 * cluster first; but `localhost` is the node's. Resolvers may take all lines of a name together, so each name is in the lines of one side only.
 */
export function sharedHosts(nodeHosts: string, services: string): string {
  const names = namesIn(services)
  const ofServices = names.delete(localhost) ? withoutNames(services, new Set([localhost])) : services
  const base = namesIn(nodeHosts).has(localhost) ? '' : ownNames
  return [base + section('The host.', withoutNames(nodeHosts, names)), section('Services of the cluster.', ofServices)]
    .filter((text) => text !== '')
    .join('\n')
}

const localhost = 'localhost'

const header = (isOfNode: boolean): string => `# Kubernetes-managed hosts file${isOfNode ? ' (host network)' : ''}.\n`

function ownLines({ hostname, ownNames = [hostname] }: PodNames, addresses: readonly string[]): string {
  return addresses.map((address) => `${address}\t${ownNames.join('\t')}\n`).join('')
}

function aliases({ hostAliases }: PodNames): string {
  const lines = hostAliases.map(({ ip, hostnames }) => `${ip}\t${hostnames.join('\t')}\n`).join('')
  return lines === '' ? '' : `\n# Entries added by HostAliases.\n${lines}`
}

const section = (title: string, lines: string): string =>
  lines === '' ? '' : `# ${title}\n${lines}${lines.endsWith('\n') ? '' : '\n'}`

/** The words of a line but for what is said beside them: an address and its names, in lower case. */
const wordsOf = (line: string): readonly string[] =>
  (line.split('#', 1)[0] ?? '')
    .toLowerCase()
    .split(/\s/)
    .filter((word) => word !== '')

const namesIn = (text: string): Set<string> => new Set(text.split('\n').flatMap((line) => wordsOf(line).slice(1)))

/** Whether one of some few names is in a text. Names are labels, dots and hyphens. */
const mentions = (text: string, names: ReadonlySet<string>): boolean =>
  names.size > 0 && new RegExp(`\\s(${[...names].join('|').replaceAll('.', '\\.')})[\\s#]`, 'i').test(text)

/** Lines that have none of these names are as before. */
function withoutNames(text: string, names: ReadonlySet<string>): string {
  if (names.size === 0) return text
  const lines = text.split('\n').flatMap((line) => {
    const [address = '', ...all] = wordsOf(line)
    const kept = all.filter((name) => !names.has(name))
    if (kept.length === all.length) return [line]
    return kept.length === 0 ? [] : [`${address}\t${kept.join('\t')}`]
  })
  return lines.join('\n')
}
