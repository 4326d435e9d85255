import {
  type ControllerRevision,
  controllerRevisions,
  type KubernetesObject,
  type LabelSelectorObject,
  type Pod,
  pods,
  type Resource,
  resourceQuotas,
} from '@coracle/api'
import { type IndexFunction, type Informer, keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type ControllerBuilder,
  controlledBy,
  controller,
  controllerOf,
  filedByLabels,
  filedBySelector,
  type Lookup,
  liveOwner,
  type ReconcileContext,
  type SourceOptions,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { concernsOrphan, isOrphan, orphanIndexName, orphansByLabels } from '../pods/orphans.ts'
import { changesReplicas } from '../replicas/controller.ts'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { ownSelector } from '../selector-of.ts'

/** An object that owns the pods it selects, and revisions of their template. */
export interface SelectingOwner extends KubernetesObject {
  readonly spec: { readonly selector: LabelSelectorObject }
}

/** What belongs to such an owner, or will once it is adopted. */
export interface Belongings {
  /** Pods that it controls and that match its selector. */
  readonly pods: readonly Pod[]
  /** Pods that match and are nobody's. */
  readonly orphans: readonly Pod[]
  /** Pods that it controls and that no longer match. */
  readonly mismatched: readonly Pod[]
  /** Revisions that it controls. */
  readonly revisions: readonly ControllerRevision[]
  /** Revisions that match its selector and are nobody's. */
  readonly orphanRevisions: readonly ControllerRevision[]
  /** Whether there is a revision of this name, whoever's it is. */
  isRevisionNameTaken(name: string): boolean
}

/** Begins the description of a controller of such owners: it hears of all that belongs to them, or might. */
export function controllerOfRevised<T extends SelectingOwner>(
  name: string,
  resource: Resource<T>,
  { indexes, ...options }: SourceOptions<T> & { readonly component: string },
): ControllerBuilder<T> {
  const selectingOwners = ({ metadata }: KubernetesObject, lookup: Lookup) => {
    const candidates = selecting(lookup.informer(resource), metadata.namespace, metadata.labels)
    return candidates.filter((owner) => ownSelector(owner).matches(metadata.labels)).map(keyOf)
  }
  return controller(name, { component: options.component })
    .for(resource, { indexes: { ...indexes, [selectorIndexName]: filedBySelector<T>(ownSelector) } })
    .owns(pods, { predicates: [changesMembers], indexes: { [orphanIndexName]: orphansByLabels } })
    .owns(controllerRevisions, { indexes: { [orphanIndexName]: orphanRevisionsByLabels } })
    .watches(pods, (pod, lookup) => (isOrphan(pod) ? selectingOwners(pod, lookup) : []), {
      predicates: [concernsOrphan, changesMembers],
    })
    .watches(controllerRevisions, (revision, lookup) =>
      controllerOf(revision) === undefined ? selectingOwners(revision, lookup) : [],
    )
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
}

/** Beside what changes replicas: a pod that has ended makes room for another once it is going, though a finalizer may keep it. */
function changesMembers(change: Change<Pod>): boolean {
  if (changesReplicas(change)) return true
  return change.type === 'update' && isGoing(change.old) !== isGoing(change.object)
}

const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

/**
 * Looks at what belongs to an owner. Where something is to be adopted the owner is asked for first: undefined, if it is gone.
 * `mayAdopt` leaves pods out that are not like its own.
 */
export async function observeBelongings<T extends SelectingOwner>(
  context: ReconcileContext<T>,
  object: T,
  mayAdopt: (pod: Pod) => boolean = () => true,
): Promise<{ readonly owner: T; readonly belongings: Belongings } | undefined> {
  const revisions = context.informer(controllerRevisions)
  const orphans = orphansOf(object, context.informer(pods)).filter(mayAdopt)
  const orphanRevisions = orphansOf(object, revisions)
  const owner = orphans.length + orphanRevisions.length > 0 ? await liveOwner(context, object) : object
  if (owner === undefined) return undefined
  const { namespace } = owner.metadata
  const selector = ownSelector(owner)
  const controlled = context.owned<Pod>(pods)
  const belongings: Belongings = {
    pods: controlled.filter(({ metadata }) => selector.matches(metadata.labels)),
    mismatched: controlled.filter(({ metadata }) => !selector.matches(metadata.labels)),
    orphans,
    revisions: controlledBy(revisions, owner),
    orphanRevisions,
    isRevisionNameTaken: (name) => revisions.get(keyText(namespace, name)) !== undefined,
  }
  return { owner, belongings }
}

const orphanRevisionsByLabels: IndexFunction<ControllerRevision> = (revision) =>
  controllerOf(revision) === undefined ? filedByLabels(revision) : []

/** An owner that is going adopts nothing. */
function orphansOf<T extends Pod | ControllerRevision>(owner: SelectingOwner, informer: Informer<T>): readonly T[] {
  if (owner.metadata.deletionTimestamp !== undefined) return []
  const found = selected(informer, orphanIndexName, owner.metadata.namespace, ownSelector(owner))
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}
