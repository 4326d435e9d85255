import type { Pod } from '@coracle/api'
import { collectionPath, type DiscoveredResource, withQuery } from '@coracle/client'
import type { Option } from 'commander'
import type { Host } from '../host.ts'
import { readKubeconfigs } from '../kubeconfig/edit-kubeconfig.ts'
import { kubeconfigFiles } from '../kubeconfig/kubeconfig-files.ts'
import { placesHere } from '../local/cluster-place.ts'
import type { ResourceCatalog } from '../resources/resource-catalog.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { type Candidate, type Completion, candidatesMax } from './candidates.ts'
import type { CommandLine } from './command-line.ts'

/** Nobody waits longer for a word to be completed. */
const serverTimeLimit = '2s'

/** What a command's arguments are. */
type Arguments =
  | 'resources'
  | 'pods'
  | 'paths'
  | 'nodes'
  | 'signing requests'
  | 'types'
  | 'contexts'
  | 'clusters'
  | 'users'
  | 'places'
  | 'files'
  | 'shells'

/** By the command's words; those of `rollout` and `set` are resources all. */
const argumentsOf: Readonly<Record<string, Arguments>> = {
  ...Object.fromEntries(
    'annotate autoscale delete describe edit expose get label patch scale wait why stop taint'
      .split(' ')
      .map((verb) => [verb, 'resources'] as const),
  ),
  explain: 'types',
  attach: 'pods',
  debug: 'pods',
  cp: 'paths',
  exec: 'pods',
  logs: 'pods',
  'port-forward': 'pods',
  'top pod': 'pods',
  cordon: 'nodes',
  drain: 'nodes',
  'top node': 'nodes',
  uncordon: 'nodes',
  'config delete-cluster': 'clusters',
  'config delete-context': 'contexts',
  'config delete-user': 'users',
  'config get-contexts': 'contexts',
  'config rename-context': 'contexts',
  'config set-cluster': 'clusters',
  'config set-context': 'contexts',
  'config set-credentials': 'users',
  'config use-context': 'contexts',
  'certificate approve': 'signing requests',
  'certificate deny': 'signing requests',
  completion: 'shells',
  up: 'files',
  use: 'places',
}

type IsOfUse = (resource: DiscoveredResource) => boolean

const named =
  (...names: readonly string[]): IsOfUse =>
  ({ plural, group }) =>
    names.includes(group === '' ? plural : `${plural}.${group}`)

const isScalable: IsOfUse = ({ subresources }) => subresources.includes('scale')
const isRolledOut = named('daemonsets.apps', 'deployments.apps', 'statefulsets.apps')
const isPausable = named('deployments.apps')

/** Types that a command can do something with, where these are not all. */
const typesFor: Readonly<Record<string, IsOfUse>> = {
  autoscale: isScalable,
  scale: isScalable,
  expose: named('pods', 'services', 'replicationcontrollers', 'deployments.apps', 'replicasets.apps'),
  taint: named('nodes'),
  ...Object.fromEntries(['history', 'restart', 'status', 'undo'].map((verb) => [`rollout ${verb}`, isRolledOut])),
  ...Object.fromEntries(['pause', 'resume'].map((verb) => [`rollout ${verb}`, isPausable])),
}

/** What has pods, of which one is chosen where it is named. */
const ownersOfPods = 'daemonsets deployments jobs pods replicasets replicationcontrollers services statefulsets'.split(
  ' ',
)

const formats = ['json', 'yaml', 'name', 'wide', 'jsonpath=', 'jsonpath-as-json=', 'jsonpath-file=', 'custom-columns=']

/** What the value of an option may be. */
export async function optionCandidates(host: Host, line: CommandLine, option: Option): Promise<Completion> {
  switch (option.long) {
    case '--namespace':
      return fromServer(host, line, (session) => namesOf(session, 'namespaces'))
    case '--context':
      return fromKubeconfig(host, line, 'contexts')
    case '--cluster':
      return fromKubeconfig(host, line, 'clusters')
    case '--user':
      return fromKubeconfig(host, line, 'users')
    case '--container':
      return fromServer(host, line, (session) => containersOf(session, line.args[0] ?? ''))
    case '--name':
      return isAboutPlaces(line) ? { candidates: places(host) } : none
    case '--output':
      return { candidates: formats.filter((each) => mentions(option.description, each)).map((word) => ({ word })) }
    default:
      return { candidates: [], files: /<(file|path|directory)s?>/.test(option.flags) }
  }
}

const mentions = (description: string, format: string): boolean => description.split(/[\s,;.]+/).includes(format)

/** What the next argument may be. */
export async function argumentCandidates(host: Host, line: CommandLine): Promise<Completion> {
  const { path, args, word } = line
  const kind = /^(rollout|set) /.test(path) ? 'resources' : argumentsOf[path]
  switch (kind) {
    case 'resources':
      return fromServer(host, line, (session) => objects(session, args, word, typesFor[path]))
    case 'types':
      return args.length > 0 ? none : fromServer(host, line, async (session) => types(await session.catalog()))
    case 'pods':
      return fromServer(host, line, (session) => podsOrContainers(session, path, args, word))
    case 'paths':
      return paths(host, line)
    case 'nodes':
      return fromServer(host, line, (session) => namesOf(session, 'nodes', args))
    case 'signing requests':
      return fromServer(host, line, (session) => namesOf(session, 'certificatesigningrequests', args))
    case 'contexts':
    case 'clusters':
    case 'users':
      return args.length > 0 && path !== 'config get-contexts' ? none : fromKubeconfig(host, line, kind)
    case 'places':
      return args.length > 0 ? none : { candidates: places(host) }
    case 'shells':
      return { candidates: args.length > 0 ? [] : ['bash', 'zsh', 'fish'].map((shell) => ({ word: shell })) }
    case 'files':
      return { candidates: [], files: true }
    default:
      return none
  }
}

const none: Completion = { candidates: [] }

/** Whether a command is about a cluster of this machine. */
const isAboutPlaces = ({ command }: CommandLine): boolean => command.options.some(({ long }) => long === '--data-dir')

/** The clusters that were started here. */
const places = (host: Host): readonly Candidate[] =>
  placesHere(host).map(({ name, shown }) => ({ word: name, description: shown }))

/** Types, then names of theirs; or `TYPE/NAME` in one word. */
async function objects(
  session: Session,
  args: readonly string[],
  word: string,
  isOfUse?: IsOfUse,
): Promise<readonly Candidate[]> {
  const slash = word.indexOf('/')
  const [type] = args
  if (slash > 0) return prefixed(word.slice(0, slash + 1), await namesOf(session, word.slice(0, slash)))
  if (type === undefined) {
    const comma = word.lastIndexOf(',') + 1
    return types(await session.catalog(), word.slice(0, comma), isOfUse)
  }
  return type.includes('/') ? [] : namesOf(session, type, args.slice(1))
}

async function podsOrContainers(
  session: Session,
  path: string,
  args: readonly string[],
  word: string,
): Promise<readonly Candidate[]> {
  const slash = word.indexOf('/')
  if (slash > 0) return prefixed(word.slice(0, slash + 1), await namesOf(session, word.slice(0, slash)))
  if (args.length === 0) {
    const pods = await namesOf(session, 'pods')
    return path === 'debug' || path === 'top pod'
      ? pods
      : [...pods, ...ownersOfPods.map((type) => ({ word: `${type}/` }))]
  }
  return path === 'logs' && args.length === 1 ? containersOf(session, args[0] ?? '') : []
}

/** Files here, and pods, of which a path follows. */
async function paths(host: Host, line: CommandLine): Promise<Completion> {
  const { args, word } = line
  if (args.length > 1 || word.includes(':')) return none
  if (/[./]/.test(word)) return { candidates: [], files: true }
  const { candidates } = await fromServer(host, line, (session) => namesOf(session, 'pods'))
  return { candidates: candidates.map((pod) => ({ word: `${pod.word}:` })), files: true }
}

/** Plural names, of every group once; a list may stand before: `pods,`. */
function types(catalog: ResourceCatalog, before = '', isOfUse: IsOfUse = () => true): readonly Candidate[] {
  const known = new Set<string>()
  return catalog.preferred().flatMap((resource) => {
    const { plural, group, shortNames, verbs } = resource
    if (!verbs.includes('list') || !isOfUse(resource)) return []
    const name = known.has(plural) ? `${plural}.${group}` : plural
    known.add(plural)
    return [{ word: before + name, description: [...shortNames, group].filter((each) => each !== '').join(' ') }]
  })
}

const prefixed = (prefix: string, candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.map(({ word }) => ({ word: prefix + word }))

interface NameList {
  readonly items?: readonly { readonly metadata?: { readonly name?: string } }[]
}

/** Names of objects of a type that are not named yet. Only metadata is asked for. */
async function namesOf(
  { client, namespace, catalog }: Session,
  type: string,
  taken: readonly string[] = [],
): Promise<readonly Candidate[]> {
  const resource = (await catalog()).find(type)
  const path = collectionPath(resource, resource.namespaced ? namespace : undefined)
  const { body } = await client.request({
    method: 'GET',
    path: withQuery(path, { limit: candidatesMax }),
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
  })
  const names = ((JSON.parse(body) as NameList).items ?? []).map(({ metadata }) => metadata?.name ?? '')
  return names.filter((name) => !taken.includes(name)).map((word) => ({ word }))
}

async function containersOf({ client, namespace, catalog }: Session, pod: string): Promise<readonly Candidate[]> {
  const name = pod.replace(/^pods?\//, '')
  const { spec } = await client.get<Pod>((await catalog()).find('pods') as never, { namespace, name })
  const { initContainers = [], containers, ephemeralContainers = [] } = spec
  return [...initContainers, ...containers, ...ephemeralContainers].map((container) => ({
    word: container.name,
    ...(container.image === undefined ? {} : { description: container.image }),
  }))
}

async function fromKubeconfig(
  host: Host,
  { options }: CommandLine,
  list: 'contexts' | 'clusters' | 'users',
): Promise<Completion> {
  const document = await readKubeconfigs(await kubeconfigFiles(host, options.get('--kubeconfig')))
  return { candidates: [...document[list].keys()].toSorted().map((word) => ({ word })) }
}

async function fromServer(
  host: Host,
  { options }: CommandLine,
  ask: (session: Session) => Promise<readonly Candidate[]>,
): Promise<Completion> {
  return { candidates: await withSession(host, { ...connectionFlags(options), requestTimeout: serverTimeLimit }, ask) }
}

/** What was typed of the connection, so that the right server is asked. */
function connectionFlags(options: ReadonlyMap<string, string>): ConnectionFlags {
  const names = ['kubeconfig', 'context', 'cluster', 'user', 'server', 'token', 'namespace', 'as'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = options.get(`--${name}`)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
