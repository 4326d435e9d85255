import { claimsOfPod } from '../../../storage/pod-claims.ts'
import { claimNamesOfPod } from '../../resource/pod-claims.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { Volume } from './volume.ts'

/** Another object of a pod's namespace that the pod names, so that its node has to read it. */
export interface PodReference {
  readonly plural: 'configmaps' | 'persistentvolumeclaims' | 'resourceclaims' | 'secrets' | 'serviceaccounts'
  readonly name: string
}

/** Every object a pod names, some more than once (upstream's VisitPodSecretNames, VisitPodConfigmapNames and Graph.AddPod). */
export function podReferences(pod: Pod): readonly PodReference[] {
  const { spec } = pod
  const references: PodReference[] = []
  const add = (plural: PodReference['plural'], name: string | undefined): void => {
    if (name !== undefined && name !== '') references.push({ plural, name })
  }
  add('serviceaccounts', spec.serviceAccountName)
  for (const { name } of spec.imagePullSecrets ?? []) add('secrets', name)
  addVariables(spec, add)
  for (const volume of spec.volumes ?? []) addVolume(volume, add)
  for (const claim of claimsOfPod(pod)) add('persistentvolumeclaims', claim)
  for (const claim of claimNamesOfPod(pod)) add('resourceclaims', claim)
  return references
}

type Add = (plural: PodReference['plural'], name: string | undefined) => void

function addVariables({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec, add: Add): void {
  for (const { env = [], envFrom = [] } of [...initContainers, ...containers, ...ephemeralContainers]) {
    for (const { configMapRef, secretRef } of envFrom) {
      add('configmaps', configMapRef?.name)
      add('secrets', secretRef?.name)
    }
    for (const { valueFrom } of env) {
      add('configmaps', valueFrom?.configMapKeyRef?.name)
      add('secrets', valueFrom?.secretKeyRef?.name)
    }
  }
}

function addVolume(volume: Volume, add: Add): void {
  add('configmaps', volume.configMap?.name)
  for (const name of secretsOf(volume)) add('secrets', name)
  for (const source of volume.projected?.sources ?? []) {
    add('configmaps', source.configMap?.name)
    add('secrets', source.secret?.name)
  }
}

/** The secrets that sources name each in its own way. */
const secretsOf = (volume: Volume): readonly (string | undefined)[] => [
  volume.secret?.secretName,
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
  volume.flexVolume?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.rbd?.secretRef?.name,
  volume.scaleIO?.secretRef?.name,
  volume.storageos?.secretRef?.name,
]
