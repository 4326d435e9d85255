import { type SubjectAccessReview, subjectAccessReviews } from '@coracle/api'
import { BoundedMap, type Client } from '@coracle/client'
import type { Clock } from '@coracle/environment'
import type { Caller } from './authentication.ts'

/** How long it is known what somebody may do: kubelet's `authorization.webhook` cache. */
export const allowedCacheMs = 300_000
export const refusedCacheMs = 30_000
const verdictsMax = 4_000

/** What has to be allowed for a request: any one of these subresources of the node. */
export interface WantedRight {
  /** A verb of the API: `get`, `create`. */
  readonly verb: string
  readonly subresources: readonly string[]
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const areas: readonly (readonly [string, string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
]

/** What KubeletFineGrainedAuthz (KEP-2862) sets apart from the right to everything. */
const fineAreas: readonly (readonly [string, string])[] = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
]

/** Paths at which more is done than read, also by a GET: that is how WebSockets are opened. */
const commandAreas: readonly string[] = ['/exec', '/attach', '/portForward', '/run']

/**
 * The rights of which one is needed for a request (upstream's pkg/kubelet/server/auth.go). Other than there, running commands and
 * connecting to ports takes `create` by GET too: who may only read from nodes must not run commands by a WebSocket.
 */
export function rightFor(method: string, path: string): WantedRight {
  const isBelow = (area: string): boolean => path === area || path.startsWith(`${area}/`)
  const find = (all: readonly (readonly [string, string])[]) => all.find(([area]) => isBelow(area))?.[1]
  const coarse = find(areas)
  if (coarse !== undefined) return { verb: verbs[method] ?? '', subresources: [coarse] }
  const fine = find(fineAreas)
  const verb = commandAreas.some(isBelow) ? 'create' : (verbs[method] ?? '')
  return { verb, subresources: [...(fine === undefined ? [] : [fine]), 'proxy'] }
}

/** Whether somebody has one of the rights to a node. Rejects where the API cannot be asked. */
export type AuthorizeCaller = (caller: Caller, nodeName: string, right: WantedRight) => Promise<boolean>

/** Asks the API, once for a while, what callers may do (SubjectAccessReview). */
export function createCallerAuthorization(client: Client, clock: Clock): AuthorizeCaller {
  const known = new BoundedMap<string, { readonly allowed: boolean; readonly untilMs: number }>(verdictsMax)

  const isAllowed = async (caller: Caller, name: string, verb: string, subresource: string): Promise<boolean> => {
    const { name: user, groups, uid, extra } = caller
    const key = JSON.stringify([user, groups, uid, extra, name, verb, subresource])
    const found = known.get(key)
    if (found !== undefined && found.untilMs > clock.monotonicMs()) return found.allowed
    const resourceAttributes = { verb, version: 'v1', resource: 'nodes', subresource, name }
    const { status } = await client.create(subjectAccessReviews, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user, uid, groups, extra, resourceAttributes },
    } as SubjectAccessReview)
    const allowed = status?.allowed === true
    known.set(key, { allowed, untilMs: clock.monotonicMs() + (allowed ? allowedCacheMs : refusedCacheMs) })
    return allowed
  }

  return async (caller, nodeName, { verb, subresources }) => {
    for (const subresource of subresources) {
      if (await isAllowed(caller, nodeName, verb, subresource)) return true
    }
    return false
  }
}
