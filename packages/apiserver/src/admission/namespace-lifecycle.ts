import { ApiError, type KubernetesObject, notFound } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { isReview } from './reviews.ts'

/** Namespaces that cannot be deleted. */
const immortal = new Set(['default', 'kube-system', 'kube-public'])

/** Keeps objects out of namespaces that are absent or ending, has none changed in absent ones, and keeps the first namespaces from being deleted. */
export function namespaceLifecycle(registries: Registries): AdmissionPlugin {
  const phaseOf = (name: string): string | undefined => {
    const namespace = registries.byResource('', 'v1', 'namespaces')?.peek('', name)?.object
    return namespace === undefined ? undefined : ((namespace as WithPhase).status?.phase ?? '')
  }
  return {
    name: 'NamespaceLifecycle',
    concerns: (target) => writesInNamespace(target) || deletesNamespace(target),
    mutate(attributes, object) {
      const { namespace } = attributes
      if (!writesInNamespace(attributes)) return object
      const phase = phaseOf(namespace)
      if (phase === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
      if (phase === 'Terminating' && attributes.operation === 'CREATE') throw terminating(attributes, object)
      return object
    },
    validate(attributes, object) {
      if (!deletesNamespace(attributes) || !immortal.has(attributes.name)) return
      throw forbiddenByAdmission(attributes, object, 'this namespace may not be deleted')
    },
  }
}

/** Reviews are let through, as upstream: a refusal would tell of namespaces to whoever may not see them. */
const writesInNamespace = (target: AdmissionTarget): boolean =>
  (target.operation === 'CREATE' || target.operation === 'UPDATE') && target.definition.namespaced && !isReview(target)

const deletesNamespace = ({ operation, definition: { group, plural } }: AdmissionTarget): boolean =>
  operation === 'DELETE' && group === '' && plural === 'namespaces'

type WithPhase = KubernetesObject & { readonly status?: { readonly phase?: string } }

function terminating(attributes: AdmissionAttributes, object: KubernetesObject | undefined): ApiError {
  const { namespace } = attributes
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const { message, status } = forbiddenByAdmission(attributes, object, why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError(403, 'Forbidden', message, { ...status.details, causes: [cause] })
}
