import {
  type ControllerRevision,
  controllerRevisions,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'
import { controllerIndexName, type IndexFunction, type Informer, keyOf, keyText } from '@coracle/client'
import {
  type Controller,
  controller,
  controllerOf,
  filedBySelector,
  type Lookup,
  liveOwner,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { isOrphan, orphanIndexName, orphansByLabels } from '../pods/orphans.ts'
import { changesReplicas } from '../replicas/controller.ts'
import { orphanRevisionsByLabels } from '../revisions/orphans.ts'
import { ownSelector } from '../selector-of.ts'
import { ordinalOf } from './identity.ts'
import { planStatefulSet } from './plan.ts'

/** Keeps the numbered pods of stateful sets, and their claims. */
export function createStatefulSetController(): Controller {
  return controller('statefulset-controller', { component: 'statefulset-controller' })
    .for(statefulSets, {
      indexes: { [selectorIndexName]: filedBySelector<StatefulSet>(ownSelector), [claimIndexName]: byClaims },
    })
    .owns(pods, { predicates: [changesReplicas], indexes: { [orphanIndexName]: orphansByLabels } })
    .owns(controllerRevisions, { indexes: { [orphanIndexName]: orphanRevisionsByLabels } })
    .watches(pods, (pod, lookup) => (isOrphan(pod) ? setsSelecting(pod, lookup) : []), {
      predicates: [changesReplicas],
    })
    .watches(controllerRevisions, (revision, lookup) =>
      controllerOf(revision) === undefined ? setsSelecting(revision, lookup) : [],
    )
    .watches(persistentVolumeClaims, setsOfClaim)
    .reconcile(async ({ object }, context) => {
      if (object === undefined) return undefined
      const isGoing = object.metadata.deletionTimestamp !== undefined
      const named = (pod: Pod) => ordinalOf(object, pod) !== undefined
      const orphans = isGoing ? [] : orphansOf(object, context.informer(pods)).filter(named)
      const orphanRevisions = isGoing ? [] : orphansOf(object, context.informer(controllerRevisions))
      const set = orphans.length + orphanRevisions.length > 0 ? await liveOwner(context, object) : object
      if (set === undefined) return undefined
      const { uid = '', namespace } = set.metadata
      const selector = ownSelector(set)
      const controlled = context.owned<Pod>(pods)
      const revisions = context.informer(controllerRevisions)
      const claims = context.informer(persistentVolumeClaims)
      const observed = {
        set,
        pods: controlled.filter(({ metadata }) => selector.matches(metadata.labels)),
        mismatched: controlled.filter(({ metadata }) => !selector.matches(metadata.labels)),
        orphans,
        revisions: revisions.byIndex(controllerIndexName, uid),
        orphanRevisions,
        isRevisionNameTaken: (name: string) => revisions.get(keyText(namespace, name)) !== undefined,
        claim: (name: string) => claims.get(keyText(namespace, name)),
      }
      return performUnlessGoing(context, set, planStatefulSet(observed, context.clock.now()))
    })
}

function orphansOf<T extends Pod | ControllerRevision>(set: StatefulSet, informer: Informer<T>): readonly T[] {
  const found = selected(informer, orphanIndexName, set.metadata.namespace, ownSelector(set))
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function setsSelecting({ metadata }: Pod | ControllerRevision, lookup: Lookup): readonly string[] {
  const candidates = selecting(lookup.informer(statefulSets), metadata.namespace, metadata.labels)
  return candidates.filter((set) => ownSelector(set).matches(metadata.labels)).map(keyOf)
}

/** The index of stateful sets by what the names of their claims begin with. */
const claimIndexName = 'claim'

const byClaims: IndexFunction<StatefulSet> = ({ metadata: { namespace, name }, spec }) =>
  (spec.volumeClaimTemplates ?? []).map((template) => keyText(namespace, `${template.metadata.name}-${name}`))

/** The stateful sets one of whose pods a claim may be for, by its name. */
function setsOfClaim({ metadata: { namespace, name = '' } }: PersistentVolumeClaim, lookup: Lookup): readonly string[] {
  const prefix = name.replace(/-[0-9]+$/, '')
  return lookup.informer(statefulSets).byIndex(claimIndexName, keyText(namespace, prefix)).map(keyOf)
}
