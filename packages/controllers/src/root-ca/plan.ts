import { type ConfigMap, configMaps, deepEqual, type Namespace, type NamespaceStatus } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/** The ConfigMap in which pods find the certificate authority of the API server, and the key in it. */
export const rootCaConfigMapName = 'kube-root-ca.crt'
export const rootCaKey = 'ca.crt'

const descriptionAnnotation = 'kubernetes.io/description'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal ' +
  'service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Keeps the certificate authority (PEM) in a namespace that is not going, whatever others make of it. Pure. */
export function planRootCa(
  namespace: Namespace,
  published: ConfigMap | undefined,
  certificate: string,
): Plan<NamespaceStatus> {
  const isGoing = namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating'
  if (isGoing) return { actions: [] }
  const data = { [rootCaKey]: certificate }
  const annotations = { [descriptionAnnotation]: description }
  if (published === undefined) {
    const metadata = { namespace: namespace.metadata.name, name: rootCaConfigMapName, annotations }
    const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    return {
      actions: [{ type: 'create', resource: configMaps, object, because: 'the namespace has no root certificate' }],
    }
  }
  const isDescribed = (published.metadata.annotations?.[descriptionAnnotation] ?? '') !== ''
  if (deepEqual(published.data, data) && isDescribed) return { actions: [] }
  const metadata = { ...published.metadata, annotations: { ...published.metadata.annotations, ...annotations } }
  const object = { ...published, metadata, data }
  return {
    actions: [
      { type: 'update', resource: configMaps, object, because: 'the root certificate is not the published one' },
    ],
  }
}
