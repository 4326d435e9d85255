/** The query parameters of the API's operations. */
import type { JsonObject } from '../json.ts'
import type { OpenApiVersion } from './definitions.ts'

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
})

const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description })

export const nameParameter = (kind: string): Parameter => path('name', `Name of the ${kind}.`)
export const namespaceParameter = path('namespace', 'Namespace of the object.')

export const proxiedPathParameter = path('path', 'Path that the request has at the other server.')

export const prettyParameter = query('pretty', 'string', 'Indents the answer where it is "true".')

const dryRun = query('dryRun', 'string', 'With "All", everything is done except storing the outcome.')
const fieldManager = query('fieldManager', 'string', 'Name under which the fields of this request are owned.')
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: Ignore drops them, Warn (the default) drops them with a warning, Strict refuses the request.',
)
const force = query('force', 'boolean', 'Takes over fields that other managers own. Only for apply patches.')
const labelSelector = query(
  'labelSelector',
  'string',
  'Restricts the list of returned objects to those with such labels, as app=web,tier in (front).',
)
const fieldSelector = query(
  'fieldSelector',
  'string',
  'Restricts the list of returned objects to those with such fields, as metadata.name=web.',
)
const limit = query('limit', 'integer', 'How many items a page has at most.')
const continueToken = query('continue', 'string', 'Token of the list before, that gets the next page.')
const resourceVersion = query(
  'resourceVersion',
  'string',
  'Version the answer must not be older than, or from which a watch starts.',
)
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is meant: Exact or NotOlderThan.',
)
const sendInitialEvents = query(
  'sendInitialEvents',
  'boolean',
  'A watch begins with what is there already, then a bookmark.',
)
const timeoutSeconds = query('timeoutSeconds', 'integer', 'Ends a list or watch after this many seconds.')
const watch = query(
  'watch',
  'boolean',
  'Watch for changes to the described resources: they come as a stream of events instead of a list.',
)
const allowWatchBookmarks = query(
  'allowWatchBookmarks',
  'boolean',
  'A watch gets BOOKMARK events, which carry the version reached.',
)
const gracePeriodSeconds = query('gracePeriodSeconds', 'integer', 'Seconds the object has to end; 0 is at once.')
const propagationPolicy = query(
  'propagationPolicy',
  'string',
  'What becomes of dependents: Orphan, Background or Foreground.',
)
const orphanDependents = query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.')

const selecting = [
  continueToken,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
]
const deleting = [dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy]

/** The parameters of each action beside `pretty` and those that its path has. */
export const actionParameters = {
  get: [],
  connect: [],
  list: [allowWatchBookmarks, ...selecting, watch],
  watch: [],
  watchlist: [],
  post: [dryRun, fieldManager, fieldValidation],
  put: [dryRun, fieldManager, fieldValidation],
  patch: [dryRun, fieldManager, fieldValidation, force],
  delete: deleting,
  deletecollection: [...deleting, ...selecting],
} as const satisfies Record<string, readonly Parameter[]>

const container = query('container', 'string', 'Which container is meant; the only one, unless it is said.')
const streams = [
  query('stderr', 'boolean', 'Connects to the standard error.'),
  query('stdin', 'boolean', 'Connects to the standard input.'),
  query('stdout', 'boolean', 'Connects to the standard output.'),
  query('tty', 'boolean', 'The command has a terminal.'),
]
const proxied = [query('path', 'string', 'Path that the request has at the other server.')]

/** The parameters of subresources that are asked with options in the query, by the kind of these. */
const options: Readonly<Record<string, readonly Parameter[]>> = {
  NodeProxyOptions: proxied,
  PodAttachOptions: [container, ...streams],
  PodExecOptions: [query('command', 'string', 'The command and its arguments, one each.'), container, ...streams],
  PodLogOptions: [
    container,
    query('follow', 'boolean', 'Goes on as the log grows.'),
    query('insecureSkipTLSVerifyBackend', 'boolean', 'Takes any certificate for that of the node.'),
    query('limitBytes', 'integer', 'Ends the answer after so many bytes.'),
    query('previous', 'boolean', 'Of the container that ran before this one.'),
    query('sinceSeconds', 'integer', 'Only lines that are no older than this.'),
    query('stream', 'string', 'Which output is meant: All, Stdout or Stderr.'),
    query('tailLines', 'integer', 'Only so many lines at the end.'),
    query('timestamps', 'boolean', 'Begins each line with its time.'),
  ],
  PodPortForwardOptions: [query('ports', 'integer', 'The ports, for clients that use WebSockets.')],
  PodProxyOptions: proxied,
  ServiceProxyOptions: proxied,
}

export const optionParameters = (kind: string): readonly Parameter[] => options[kind] ?? []

/** A parameter as a dialect writes it. */
export function writeParameter(parameter: Parameter, version: OpenApiVersion): JsonObject {
  const { name, in: place, type, description } = parameter
  const required = place === 'path' ? { required: true } : {}
  const unique = { type, uniqueItems: true }
  const head = { name, in: place, description, ...required }
  return version === 'v2' ? { ...head, ...unique } : { ...head, schema: unique }
}
