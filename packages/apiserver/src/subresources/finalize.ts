import { invalid, type KubernetesObject, type Namespace, validateNamespace } from '@coracle/api'
import { decodeBody } from '../registry/body.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Subresource } from './subresource.ts'

/** `namespaces/finalize`: replaces `spec.finalizers`, and so lets a namespace that is being deleted go. */
export function finalizeSubresource(registry: ResourceRegistry): Subresource {
  const { definition } = registry
  return {
    async update(context, namespace, name, body, options) {
      const { object, warnings } = decodeBody(definition, body, options.fieldValidation, () => false)
      checkIdentity(definition, object, namespace, name)
      const errors = validateNamespace(object as Namespace)
      if (errors.length > 0) throw invalid(definition, name, errors)
      const { resourceVersion = '' } = object.metadata
      const { stored } = await registry.change(context, namespace, name, 'raw', options, (old) => {
        registry.checkVersion(old, object.metadata)
        const changed = { ...old.object, spec: (object as Namespace).spec ?? {} } as KubernetesObject
        return { object: changed, warnings, repeatable: resourceVersion === '' }
      })
      return { code: 200, value: stored.object, stored, warnings }
    },
  }
}
