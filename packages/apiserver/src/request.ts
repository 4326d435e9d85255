import {
  type CauseClaim,
  type NonResourceRule,
  type Resource,
  type ResourceRule,
  readFieldSelector,
} from '@coracle/api'

/** Who makes a request, as authentication established it. */
export interface User {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
  /** What else authentication knows of them, such as the scopes of a token. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
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
      /** Empty for creates and for collections, unless a list or watch selects one object by its name. */
      readonly name: string
      /** Of a request about a collection, as it has it: some may read or delete of a collection only what they select. */
      readonly fieldSelector?: string
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

/**
 * What a request about a collection wants: of a list or watch whose field selector names one object, that object, as upstream. A
 * deletion of a collection has no name (`RequestInfoFactory.NewRequestInfo`).
 */
export function collectionAttributes(
  attributes: Extract<RequestAttributes, { readonly kind: 'resource' }>,
  fieldSelector: string,
): RequestAttributes {
  const { name, verb } = attributes
  const named = name === '' && verb !== 'deletecollection' ? selectedName(fieldSelector) : undefined
  return { ...attributes, fieldSelector, ...(named === undefined ? {} : { name: named }) }
}

/** The only name a field selector selects; undefined where it does not say, or cannot be read, which is for others to refuse. */
export function selectedName(fieldSelector: string): string | undefined {
  if (!fieldSelector.includes('metadata.name')) return undefined
  const terms = readFieldSelector(fieldSelector)?.terms ?? []
  const name = terms.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value
  // What could be no part of a path names no object.
  return name === undefined || name === '.' || name === '..' || /[/%]/.test(name) ? undefined : name
}

export interface RequestContext {
  readonly user: User
  /** Tells where the request came from, for audit and field managers: the User-Agent over HTTP. */
  readonly userAgent: string
  /** The program that asks, as field managers are called, where that is not what its user agent begins with. */
  readonly program?: string
  /** What the client says of why it asks. */
  readonly claim?: CauseClaim
  /** As the client names the request (`Audit-ID`). */
  readonly auditId?: string
  /** How long whoever asks still waits, in milliseconds of the host's time. Absent: as long as it takes. */
  readonly leftMs?: () => number
  /** Tells the client something beside the answer (a `Warning` header), whether it is refused or not. */
  readonly warn?: (text: string) => void
  /** Notes something for the audit log. Keys are qualified names; the first value of a key counts. */
  readonly annotate?: (key: string, value: string) => void
}

export interface Authorizer {
  /** Undefined when allowed; otherwise why not, for the message of the 403. Pure over its configuration. */
  refuse(user: User, attributes: RequestAttributes): string | undefined
  /** Why it allows what it allows, for people to read. Absent or empty: it does not say. */
  allowedBy?(user: User, attributes: RequestAttributes): string
  /** What a user may do in a namespace, for people to read. Absent: it cannot tell. */
  rulesFor?(user: User, namespace: string): UserRules
}

/** What somebody may do, as far as it can be listed. */
export interface UserRules {
  readonly resources: readonly ResourceRule[]
  readonly paths: readonly NonResourceRule[]
  /** Why there may be more; absent where there is not. */
  readonly incomplete?: string
  /** What went wrong on the way, though what is there is all that there is. */
  readonly error?: string
}
