import type { Cause, CausedChange, CauseLink, ChainEnd } from '@coracle/api'
import type { ObjectReference } from './finding.ts'

/** Who made a change. */
export interface Author {
  /** A controller of the cluster, or of somebody's, that says what it reconciled; or whoever else asked. */
  readonly type: 'controller' | 'user'
  /** The controller's name, or the user's. */
  readonly name: string
  /** The user that asked, as authentication established it. */
  readonly user: string
  /** By what: the field manager, or the program as it calls itself. */
  readonly manager?: string
  /** That it is a controller is what the user says of itself, and the user is no component of the cluster. */
  readonly claimed?: true
}

/** A change in a chain of causes. */
export interface Change {
  /** The `resourceVersion` of its objects since. */
  readonly revision: number
  readonly time: string
  readonly who: Author
  /** What was asked for: of an object itself, or through a subresource. */
  readonly request: { readonly verb: 'create' | 'update' | 'delete'; readonly subresource?: string }
  /** The objects it changed; the first is what was asked for. */
  readonly objects: readonly CausedChange[]
  /** Why, in words; absent where whoever asked did not say. */
  readonly because?: string
  /** The object that a controller reconciled. */
  readonly reconciled?: ObjectReference
  /** Admission plugins that changed what was asked for. */
  readonly admission?: readonly string[]
  /** Revisions of the changes it followed from, the latest first. */
  readonly from: readonly number[]
  /** Why the chain goes no further back here. */
  readonly end?: ChainEnd
}

export function changeOf({ cause, from, end }: CauseLink): Change {
  const { revision, metadata, request, changes, because, reconcile, admission } = cause
  const { verb, subresource } = request
  return {
    revision,
    time: metadata.creationTimestamp,
    who: authorOf(cause),
    request: subresource === undefined ? { verb } : { verb, subresource },
    objects: changes,
    ...(because === undefined ? {} : { because }),
    ...(reconcile === undefined ? {} : { reconciled: reconcile.object }),
    ...(admission === undefined ? {} : { admission }),
    from,
    ...(end === undefined ? {} : { end }),
  }
}

function authorOf({ user, request, reconcile, claimed }: Cause): Author {
  const manager = request.fieldManager ?? request.userAgent?.split('/')[0]
  const by = manager === undefined || manager === '' ? {} : { manager }
  if (reconcile === undefined) return { type: 'user', name: user, user, ...by }
  return { type: 'controller', name: reconcile.controller, user, ...by, ...(claimed === true ? { claimed } : {}) }
}
