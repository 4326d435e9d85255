import { hasReason, namespaces } from '@coracle/api'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { storedObject } from './stored-objects.ts'

const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/** Makes the namespace that something is created in, where it is not there. A dry run makes none, and is refused. */
export function namespaceAutoProvision(registries: Registries): AdmissionPlugin {
  const provide = async (name: string, what: string): Promise<void> => {
    try {
      const context = apiServerContext(`${what} is created in it`)
      await registries.of(namespaces)?.create(context, '', { metadata: { name } }, options)
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
    }
  }
  return {
    name: 'NamespaceAutoProvision',
    mutate(attributes, object) {
      const { operation, definition, namespace, dryRun, kind } = attributes
      if (operation !== 'CREATE' || dryRun || namespace === '' || !definition.namespaced) return object
      if (storedObject(registries, namespaces, namespace) !== undefined) return object
      return provide(namespace, `a ${kind.kind}`).then(
        () => object,
        (error: unknown) => {
          throw forbiddenByAdmission(attributes, object, error instanceof Error ? error.message : String(error))
        },
      )
    },
  }
}
