import { namespaces, notFound } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { storedObject } from './stored-objects.ts'

/** Nothing is written in a namespace that is not there, in no way at all: NamespaceLifecycle lets go what is there. */
export function namespaceExists(registries: Registries): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    validate({ definition, namespace, operation }) {
      if (operation === 'CONNECT' || namespace === '' || !definition.namespaced) return
      if (storedObject(registries, namespaces, namespace) === undefined) throw notFound(namespaces, namespace)
    },
  }
}
