import {
  type KubernetesObject,
  type Pod,
  type ServiceAccount,
  tokenMountPath,
  tokenVolumePrefix as volumePrefix,
} from '@coracle/api'
import { podTokenSeconds } from '../../service-account-tokens/token-claims.ts'
import { type AdmittedPod, withSpec } from '../pods.ts'

type Container = NonNullable<Pod['spec']['initContainers']>[number]

/**
 * A pod whose containers find a token of its account, the authority of the API server and their namespace where client libraries look
 * for them, unless pod or account say that they are not to (upstream's ServiceAccount plugin, mountServiceAccountToken). A container
 * that has something mounted there keeps it. `newSuffix` makes the end of the volume's name.
 */
export function withTokenVolume(pod: Pod, account: ServiceAccount, newSuffix: () => string): KubernetesObject {
  if (!(pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)) return pod
  const { volumes = [], containers = [], initContainers } = pod.spec
  const known = volumes.find(({ name }) => name.startsWith(volumePrefix))
  const name = known?.name ?? volumePrefix + newSuffix()
  const mount = { name, readOnly: true, mountPath: tokenMountPath }
  const lacksMount = ({ volumeMounts = [] }: Container): boolean =>
    volumeMounts.every(({ mountPath }) => mountPath !== tokenMountPath)
  const withMount = <C extends Container>(container: C): C =>
    lacksMount(container) ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] } : container
  if (![...containers, ...(initContainers ?? [])].some(lacksMount)) return pod
  return withSpec(pod as AdmittedPod, {
    containers: containers.map(withMount),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withMount) }),
    ...(known === undefined ? { volumes: [...volumes, { name, projected }] } : {}),
  })
}

const projected = {
  sources: [
    { serviceAccountToken: { expirationSeconds: podTokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
  defaultMode: 0o644,
}
