import {
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'
import { type IndexFunction, keyOf, keyText } from '@coracle/client'
import type { Change, Controller, Lookup } from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { controllerOfRevised, observeBelongings } from '../revisions/belongings.ts'
import { ordinalOf } from './identity.ts'

/** Keeps the numbered pods of stateful sets, and their claims. */
export function createStatefulSetController(): Controller {
  const options = { component: 'statefulset-controller', indexes: { [claimIndexName]: byClaims } }
  return controllerOfRevised('statefulset-controller', statefulSets, options)
    .watches(persistentVolumeClaims, setsOfClaim)
    .watches(pods, setInWait, { predicates: [isDeletion] })
    .reconcile(async ({ object }, context) => {
      if (object === undefined) return undefined
      const isNumbered = (pod: Pod) => ordinalOf(object, pod) !== undefined
      const observed = await observeBelongings(context, object, isNumbered)
      if (observed === undefined) return undefined
      const { owner: set, belongings } = observed
      // Many clusters have none. Where time is virtual it stands still meanwhile.
      const { planStatefulSet } = await context.clock.hold(import('./plan.ts'))
      const claims = context.informer(persistentVolumeClaims)
      const claim = (name: string) => claims.get(keyText(set.metadata.namespace, name))
      return performUnlessGoing(context, set, planStatefulSet({ set, ...belongings, claim }, context.clock.now()))
    })
}

const isDeletion = ({ type }: Change<Pod>): boolean => type === 'delete'

/** The stateful set that may wait for the name of a pod that was not its own. */
function setInWait({ metadata: { namespace, name = '' } }: Pod, lookup: Lookup): readonly string[] {
  const key = keyText(namespace, name.replace(/-[0-9]+$/, ''))
  return lookup.informer(statefulSets).get(key) === undefined ? [] : [key]
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
