import { invalid, type KubernetesObject, type Namespace, validateNamespace } from '@coracle/api'
import { decodeBody } from '../registry/body.ts'
import type { ChangedPart } from '../registry/changed-part.ts'
import { checkIdentity } from '../registry/object-metadata.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { Subresource } from './subresource.ts'

/** `namespaces/finalize`: replaces `spec.finalizers`, and so lets a namespace that is being deleted go. */
export function finalizeSubresource(registry: ResourceRegistry): Subresource {
  const { definition } = registry
  const check = (namespace: KubernetesObject): void => {
    const errors = validateNamespace(namespace as Namespace)
    if (errors.length > 0) throw invalid(definition, namespace.metadata.name ?? '', errors)
  }
  const part: ChangedPart = {
    subresource: 'finalize',
    rules: 'own',
    view: {
      kind: registry.kind,
      of: (namespace) => namespace,
      apply: (namespace, written) => {
        check(written)
        return { ...namespace, spec: (written as Namespace).spec ?? {} } as KubernetesObject
      },
    },
  }
  return {
    async update(context, namespace, name, body, options) {
      const { clock } = registry
      const { fieldValidation } = options
      const { object, warnings } = await decodeBody(body, { clock, definition, fieldValidation })
      checkIdentity(definition, object, namespace, name)
      check(object)
      const { resourceVersion = '' } = object.metadata
      const { stored } = await registry.change(context, namespace, name, part, options, (old) => {
        registry.checkVersion(old, object.metadata)
        const changed = { ...old.object, spec: (object as Namespace).spec ?? {} } as KubernetesObject
        return { object: changed, warnings, repeatable: resourceVersion === '', ownedPart: 'finalize' }
      })
      return { code: 200, value: stored.object, stored, warnings }
    },
  }
}
