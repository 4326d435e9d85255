import {
  badRequest,
  type Cause,
  type CauseList,
  fieldMatcher,
  humanDuration,
  parseFieldSelector,
  parseLabelSelector,
  parseTime,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import { type CausesQuery, causeListOf } from '../causes/causal-record.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { clausesOf } from './media-types.ts'
import { json, prettyJson } from './representation/format.ts'
import { send } from './respond.ts'
import { pathMethodNotAllowed, pathNotFound, type ResourceRoute } from './routes.ts'

/**
 * Answers from the causal record. No right to it is asked for: everybody sees the causes of changes to objects that they may
 * get, and no others.
 */
export async function handleCauses(context: HandlerContext, exchange: Exchange, route: ResourceRoute): Promise<void> {
  const { core, environment } = context
  const { user, query } = exchange
  if (route.deeper || route.subresource !== '' || route.namespace !== '') throw pathNotFound()
  const { clock } = environment
  const causes = await core.causes()
  if (route.verb === 'get') {
    return sendCauses(exchange, clock, await causes.get(user, revisionOf('name', route.name)))
  }
  if (route.verb !== 'list' || exchange.request.method === 'HEAD') throw pathMethodNotAllowed()
  await sendCauses(exchange, clock, causeListOf(await causes.list(user, causesQueryOf(query))))
}

/** Parameters that select by one field of a change. Others are `revision`, `after`, `limit` and `continue`. */
const fields = ['group', 'resource', 'namespace', 'name', 'uid'] as const

function causesQueryOf(query: URLSearchParams): CausesQuery {
  const selected: Record<string, string> = {}
  for (const field of fields) {
    const value = query.get(field)
    if (value !== null) selected[field] = value
  }
  const [revisions, limit, before] = [query.get('revision'), query.get('limit'), query.get('continue')]
  const after = query.get('after')
  return {
    ...selected,
    ...(revisions === null ? {} : { revisions: revisionsOf(revisions) }),
    ...selectorsOf(query),
    ...(limit === null ? {} : { limit: revisionOf('limit', limit) }),
    ...(before === null ? {} : { before: revisionOf('continue', before) }),
    ...(after === null ? {} : { after: revisionOf('after', after) }),
  }
}

/** What selectors ask for. Causes have no labels, and of their fields the name can be asked for, which is the revision. */
function selectorsOf(query: URLSearchParams): Pick<CausesQuery, 'revisions' | 'matches'> {
  const [labelSelector, fieldSelector] = ['labelSelector', 'fieldSelector'].map((name) => query.get(name) ?? '')
  const selectsUnlabelled = !labelSelector || parseLabelSelector(labelSelector).matches(undefined)
  if (!fieldSelector) return selectsUnlabelled ? {} : { revisions: [] }
  const fields = parseFieldSelector(fieldSelector)
  const matches = fieldMatcher(fields, {})
  const named = fields.terms.find(({ field, operator }) => field === 'metadata.name' && operator === '=')
  if (!selectsUnlabelled) return { revisions: [] }
  return named === undefined
    ? { matches }
    : { matches, revisions: isRevision(named.value) ? [Number(named.value)] : [] }
}

/** Most revisions asked for by number in one request. */
const revisionsAskedMax = 100

function revisionsOf(text: string): readonly number[] {
  const revisions = text.split(',').map((each) => revisionOf('revision', each))
  if (revisions.length > revisionsAskedMax)
    throw badRequest(`revision: at most ${revisionsAskedMax} may be asked for at once`)
  return revisions
}

function revisionOf(field: string, text: string): number {
  if (isRevision(text)) return Number(text)
  throw badRequest(`${field}: ${JSON.stringify(text)} is no whole number above 0`)
}

const isRevision = (text: string): boolean => /^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))

function sendCauses(
  { request, response, query }: Exchange,
  clock: Clock,
  answer: Cause | CauseList,
): void | Promise<void> {
  const isTable = clausesOf(request.headers.accept ?? '').some(({ parameters }) => parameters.get('as') === 'Table')
  const format = query.get('pretty') === 'true' ? prettyJson : json
  return send(response, 200, format.contentType, format.encode(isTable ? tableOf(answer, clock.now()) : answer))
}

const columns = ['Revision', 'Age', 'Object', 'Change', 'By', 'Because'] as const

/** What `kubectl get causes` prints. */
function tableOf(answer: Cause | CauseList, nowMs: number): unknown {
  const causes = 'items' in answer ? answer.items : [answer]
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: 'items' in answer ? answer.metadata : {},
    columnDefinitions: columns.map((name) => ({ name, type: 'string', format: '', description: name, priority: 0 })),
    rows: causes.map((cause) => ({
      cells: cellsOf(cause, nowMs),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: cause.metadata },
    })),
  }
}

function cellsOf(cause: Cause, nowMs: number): readonly string[] {
  const [first, ...others] = cause.changes
  const { resource = '', group = '', namespace = '', name = '', operation = '' } = first ?? {}
  const kind = group === '' ? resource : `${resource}.${group}`
  const object = [kind, namespace, name].filter((part) => part !== '').join('/')
  const { subresource } = cause.request
  return [
    cause.metadata.name,
    humanDuration(nowMs - parseTime(cause.metadata.creationTimestamp)),
    others.length === 0 ? object : `${object} and ${others.length} more`,
    subresource === undefined ? operation : `${operation} (${subresource})`,
    cause.reconcile?.controller ?? cause.user,
    cause.because ?? '<none>',
  ]
}
