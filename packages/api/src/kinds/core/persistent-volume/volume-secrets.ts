import type { PersistentVolume } from './schema.ts'

/** A secret by its full name. */
export interface SecretName {
  readonly namespace: string
  readonly name: string
}

type Named = { readonly [part in keyof SecretName]: string | undefined }

/** The secrets a node needs to mount a volume (upstream's VisitPVSecretNames, as far as node agents are concerned). */
export function mountSecretsOf({ spec = {} }: Pick<PersistentVolume, 'spec'>): readonly SecretName[] {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec
  const claimNamespace = spec.claimRef?.namespace ?? ''
  const secrets: SecretName[] = []
  // An empty namespace is the claim's: the sources that had secrets before these had namespaces say so.
  const add = (secret: Partial<Named> | undefined, fallback = ''): void => {
    const { namespace = '', name = '' } = secret ?? {}
    if (name !== '') secrets.push({ namespace: namespace || fallback, name })
  }
  if (azureFile !== undefined) {
    const { secretName: name, secretNamespace: namespace = '' } = azureFile
    add({ namespace, name }, claimNamespace)
  }
  for (const source of [cephfs, flexVolume, iscsi, rbd, scaleIO]) add(source?.secretRef, claimNamespace)
  for (const source of [cinder, storageos]) add(source?.secretRef)
  for (const secret of [csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef]) add(secret)
  return secrets
}
