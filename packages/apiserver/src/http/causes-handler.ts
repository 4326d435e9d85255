import {
  badRequest,
  type Cause,
  type CauseList,
  causesGroup,
  causesPlural,
  causesVersion,
  humanDuration,
  parseTime,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import { type CausesQuery, causeListOf } from '../causes/causal-record.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { clausesOf } from './media-types.ts'
import { json, prettyJson } from './representation/format.ts'
import { send } from './respond.ts'
import { pathMethodNotAllowed, pathNotFound, type ResourceRoute } from './routes.ts'

/** Whether a route leads to the causal record: `/apis/coracle.dev/v1/causes`, or `…/causes/<revision>`. */
export const isCausesRoute = ({ group, version, plural }: ResourceRoute): boolean =>
  group === causesGroup && version === causesVersion && plural === causesPlural

/**
 * Answers from the causal record. No right to it is asked for: everybody sees the causes of changes to objects that they may
 * get, and no others.
 */
export async function handleCauses(context: HandlerContext, exchange: Exchange, route: ResourceRoute): Promise<void> {
  const { core, environment } = context
  const { user, query } = exchange
  if (route.deeper || route.subresource !== '' || route.namespace !== '') throw pathNotFound()
  const { clock } = environment
  if (route.verb === 'get') {
    return sendCauses(exchange, clock, await core.causes.get(user, revisionOf('name', route.name)))
  }
  if (route.verb !== 'list' || exchange.request.method === 'HEAD') throw pathMethodNotAllowed()
  await sendCauses(exchange, clock, causeListOf(await core.causes.list(user, causesQueryOf(query))))
}

/** Parameters that select by one field of a change. Others are `revision`, `after`, `limit` and `continue`. */
const fields = ['group', 'resource', 'namespace', 'name', 'uid'] as const

function causesQueryOf(query: URLSearchParams): CausesQuery {
  for (const selector of ['labelSelector', 'fieldSelector']) {
    if ((query.get(selector) ?? '') === '') continue
    throw badRequest(`${selector}: causes are selected by the parameters ${fields.join(', ')} and revision`)
  }
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
    ...(limit === null ? {} : { limit: revisionOf('limit', limit) }),
    ...(before === null ? {} : { before: revisionOf('continue', before) }),
    ...(after === null ? {} : { after: revisionOf('after', after) }),
  }
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
  const revision = Number(text)
  if (/^\d+$/.test(text) && revision > 0 && Number.isSafeInteger(revision)) return revision
  throw badRequest(`${field}: ${JSON.stringify(text)} is no whole number above 0`)
}

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
