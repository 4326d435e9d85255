/** What OpenAPI definition names of the shared meta types start with. */
export const metaV1 = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** What OpenAPI definition names of the core group start with. */
export const coreV1 = 'io.k8s.api.core.v1'

/** What OpenAPI definition names of the apps group start with. */
export const appsV1 = 'io.k8s.api.apps.v1'

/** What OpenAPI definition names of the autoscaling group start with. */
export const autoscalingV1 = 'io.k8s.api.autoscaling.v1'
export const autoscalingV2 = 'io.k8s.api.autoscaling.v2'

/** What OpenAPI definition names of the batch group start with. */
export const batchV1 = 'io.k8s.api.batch.v1'

/** What OpenAPI definition names of the discovery group start with. */
export const discoveryV1 = 'io.k8s.api.discovery.v1'

/** What OpenAPI definition names of definitions of custom resources start with. */
export const apiextensionsV1 = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

/** What OpenAPI definition names of the groups start with that are asked who somebody is, and what they may do. */
export const authenticationV1 = 'io.k8s.api.authentication.v1'
export const authorizationV1 = 'io.k8s.api.authorization.v1'

/** What OpenAPI definition names of the metrics group start with. */
export const metricsV1beta1 = 'io.k8s.metrics.pkg.apis.metrics.v1beta1'

/** Groups of upstream whose package has another name: all others add `.k8s.io` to theirs. */
const groups: Readonly<Record<string, string>> = {
  core: '',
  apps: 'apps',
  autoscaling: 'autoscaling',
  batch: 'batch',
  policy: 'policy',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  rbac: 'rbac.authorization.k8s.io',
}

/** The API group in a definition name of upstream: `coordination.k8s.io` of `io.k8s.api.coordination.v1.Lease`. */
export function groupOf(definitionName: string): string {
  const name = definitionName.split('.').at(-3) ?? ''
  return groups[name] ?? `${name}.k8s.io`
}
