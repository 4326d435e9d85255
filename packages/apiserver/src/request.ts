import type { Resource } from '@coracle/api'

/** Who makes a request, as authentication established it. */
export interface User {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
}

/**
 * What a request wants, read from its method and path or from an in-process call: what authorization judges.
 * The same for both ways in, so nothing in process has more rights than its identity.
 */
export type RequestAttributes =
  | {
      readonly kind: 'resource'
      /** get, list, watch, create, update, patch, delete, deletecollection. */
      readonly verb: string
      readonly resource: Resource
      readonly subresource: string
      readonly namespace: string
      /** Empty for collections and creates without a name. */
      readonly name: string
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

export interface RequestContext {
  readonly user: User
  /** Tells where the request came from, for audit and field managers: the User-Agent over HTTP. */
  readonly userAgent: string
}

export interface Authorizer {
  /** Undefined when allowed; otherwise why not, for the message of the 403. Pure over its configuration. */
  refuse(user: User, attributes: RequestAttributes): string | undefined
}
