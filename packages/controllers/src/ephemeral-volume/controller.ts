import { claimNameOf, type PersistentVolumeClaim, type Pod, persistentVolumeClaims, pods } from '@coracle/api'
import { type IndexFunction, keyOf, keyText } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup } from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { planEphemeralVolumes } from './plan.ts'

const claimIndexName = 'ephemeral claim'

/** Makes claims for the ephemeral volumes of pods: https://kep.k8s.io/1698. */
export function createEphemeralVolumeController(): Controller {
  return controller('ephemeral-volume-controller', { component: 'ephemeral_volume' })
    .for(pods, { indexes: { [claimIndexName]: byEphemeralClaim }, predicates: [hasEphemeralVolumes] })
    .watches(persistentVolumeClaims, podsOfClaim, { predicates: [({ type }) => type === 'delete'] })
    .reconcile(async ({ object: pod }, context) => {
      if (pod === undefined) return undefined
      const claims = context.informer(persistentVolumeClaims)
      const claim = (name: string) => claims.get(keyText(pod.metadata.namespace, name))
      return performUnlessGoing(context, pod, planEphemeralVolumes(pod, claim))
    })
}

const byEphemeralClaim: IndexFunction<Pod> = (pod) =>
  (pod.spec.volumes ?? []).flatMap((volume) => {
    const name = volume.ephemeral === undefined ? undefined : claimNameOf(pod, volume)
    return name === undefined ? [] : [keyText(pod.metadata.namespace, name)]
  })

const hasEphemeralVolumes = ({ object }: Change<Pod>): boolean =>
  object.spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true

function podsOfClaim(claim: PersistentVolumeClaim, lookup: Lookup): readonly string[] {
  return lookup.informer(pods).byIndex(claimIndexName, keyOf(claim)).map(keyOf)
}
