import { type ControllerRevision, controllerRevisions } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { byRevision, isPresent, newRevision, type RevisedOwner, revisionAfter } from './revision.ts'

/** The revisions of an owner, and where its present template stands among them. */
export interface History {
  /** The revision of the present template: as it is, or as it is going to be. */
  readonly present: ControllerRevision
  /** The others, the earliest first. */
  readonly past: readonly ControllerRevision[]
  /** What makes it so. */
  readonly actions: readonly Action[]
  /** Whether the name that the present template's revision would get is another's: it takes a further collision to name it. */
  readonly isNameTaken: boolean
}

/**
 * Finds the present template of an owner among its revisions: a template that comes back is the latest revision again, and one
 * that is new becomes a revision, whose hash is also its label `hashLabel`. Pure.
 */
export function historyOf(
  owner: RevisedOwner,
  revisions: readonly ControllerRevision[],
  isTaken: (name: string) => boolean,
  hashLabel?: string,
): History {
  const sorted = [...revisions].sort(byRevision)
  const known = sorted.filter((revision) => isPresent(revision, owner)).at(-1)
  const past = sorted.filter((revision) => revision !== known)
  const latest = revisionAfter(past.at(-1)?.revision ?? 0)
  if (known === undefined) {
    const present = newRevision(owner, latest, hashLabel)
    const isNameTaken = isTaken(present.metadata.name ?? '')
    const because = 'the template has no revision yet'
    return {
      present,
      past,
      isNameTaken,
      actions: [{ type: 'create', resource: controllerRevisions, object: present, because }],
    }
  }
  if (known.revision >= latest) return { present: known, past, isNameTaken: false, actions: [] }
  const present = { ...known, revision: latest }
  const because = 'a former template is the present one again'
  return {
    present,
    past,
    isNameTaken: false,
    actions: [{ type: 'update', resource: controllerRevisions, object: present, because }],
  }
}

/** Deletes the earliest of the past revisions that are too many to keep. Those that are in use stay. */
export function trimHistory(
  past: readonly ControllerRevision[],
  limit: number,
  isInUse: (revision: ControllerRevision) => boolean,
): readonly Action[] {
  const tooMany = Math.max(0, past.length - limit)
  return past
    .filter((revision) => !isInUse(revision))
    .slice(0, tooMany)
    .map(({ metadata: { namespace, name = '', uid } }) => ({
      type: 'delete',
      resource: controllerRevisions,
      key: namespace === undefined ? { name } : { namespace, name },
      ...(uid === undefined ? {} : { uid }),
      because: 'more old revisions exist than are kept',
    }))
}
