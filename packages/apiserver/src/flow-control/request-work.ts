import { readBoolean, readInteger } from '../http/query.ts'
import type { ResourceRoute, Route } from '../http/routes.ts'
import { selectedName } from '../request.ts'
import {
  estimateList,
  estimateWrite,
  type ListWork,
  oneSeat,
  type StoredAmount,
  unreadableList,
  type WorkEstimate,
} from './work-estimate.ts'

/** What the work of a request hangs on, beside the request. */
export interface WorkSurroundings {
  /** What is stored of a resource; undefined where nothing is, or another server has it. */
  stored(route: ResourceRoute): StoredAmount | undefined
  /** How many watch what a request writes. */
  watchers(route: ResourceRoute): number
  /** Most seats of a request of its level; undefined where the level sets none. */
  readonly widest: number | undefined
}

export interface RequestWork extends WorkEstimate {
  /** How many watch what it writes; absent where it writes nothing that can be watched. */
  readonly watchers?: number
}

/** Estimates the work of a request (apiserver, util/flowcontrol/request). Reads nothing but what it is given. */
export function workOfRequest(route: Route, query: URLSearchParams, surroundings: WorkSurroundings): RequestWork {
  if (route.kind === 'path') return oneSeat
  switch (route.verb) {
    case 'list':
    case 'watch':
      return listWork(route, query, surroundings)
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return writeWork(route, surroundings)
    default:
      return oneSeat
  }
}

function listWork(route: ResourceRoute, query: URLSearchParams, { stored, widest }: WorkSurroundings): WorkEstimate {
  const list = listOf(route, query)
  if (list === undefined) return unreadableList(widest)
  const amount = stored(route)
  return amount === undefined ? oneSeat : estimateList(list, amount, widest)
}

/** Undefined where the options cannot be read. */
function listOf(route: ResourceRoute, query: URLSearchParams): ListWork | undefined {
  const text = (name: string) => query.get(name) ?? ''
  const fieldSelector = text('fieldSelector')
  try {
    readInteger(query, 'timeoutSeconds')
    return {
      namesOne: route.name !== '' || selectedName(fieldSelector) !== undefined,
      isWatch: route.verb === 'watch',
      limit: readInteger(query, 'limit') ?? 0,
      selects: fieldSelector !== '' || text('labelSelector') !== '',
      resourceVersion: text('resourceVersion'),
      resourceVersionMatch: text('resourceVersionMatch'),
      continues: text('continue') !== '',
      sendsInitialEvents: readBoolean(query, 'sendInitialEvents'),
    }
  } catch {
    return undefined
  }
}

/** A connection writes nothing; a token is an event for nobody. */
const silent: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy'])

function writeWork(route: ResourceRoute, { watchers, widest }: WorkSurroundings): RequestWork {
  const { plural, subresource } = route
  if (silent.has(subresource) || (plural === 'serviceaccounts' && subresource === 'token')) return oneSeat
  const count = watchers(route)
  return { ...estimateWrite(count, widest), watchers: count }
}
