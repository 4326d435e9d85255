import type { KubernetesObject, Pod, PodTemplateSpec } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'

/** A pod as `owner` makes it of its template: named after the owner, controlled by it, and with what the template says. */
export function podFromTemplate(owner: KubernetesObject, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const { namespace, name = '' } = owner.metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerRef(owner)],
    },
    spec: template.spec,
  }
}
