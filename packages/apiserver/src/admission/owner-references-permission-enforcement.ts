import {
  apiVersionOf,
  deepEqual,
  type KubernetesObject,
  type OwnerReference,
  pods,
  type ResourceDefinition,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { Authorizer, RequestAttributes, User } from '../request.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'

/**
 * Who gives an object that is there to an owner could have it collected: only those may who may delete it. Who lets it hold up the deletion of
 * its owner has to have the right to set finalizers of that.
 */
export function ownerReferencesPermissionEnforcement(registries: Registries, authorizer: Authorizer): AdmissionPlugin {
  const refusal = (user: User, what: Omit<ResourceAttributes, 'kind'>): string | undefined =>
    authorizer.refuse(user, { kind: 'resource', ...what })
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate(attributes, object) {
      if (!changesOwners(attributes, object)) return
      const { context, definition, namespace, subresource, name, operation } = attributes
      const { user } = context
      if (operation === 'UPDATE') {
        const why = refusal(user, { verb: 'delete', resource: definition, subresource, namespace, name })
        if (why !== undefined) {
          throw forbiddenByAdmission(
            attributes,
            object,
            `cannot set an ownerRef on a resource you can't delete: ${why}, <nil>`,
          )
        }
      }
      const owners = newBlockingOwners(attributes.old, object)
      if (owners.length === 0 || refusal(user, finalizingAnything) === undefined) return
      for (const owner of owners) {
        for (const resource of resourcesOf(attributes, object, owner)) {
          const where = resource.namespaced ? namespace : ''
          const what = { verb: 'update', resource, subresource: 'finalizers', namespace: where, name: owner.name }
          const why = refusal(user, what)
          if (why === undefined) continue
          throw forbiddenByAdmission(
            attributes,
            object,
            `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${why}, <nil>`,
          )
        }
      }
    },
  }

  /** What is served as the kind of an owner. */
  function resourcesOf(
    attributes: AdmissionAttributes,
    object: KubernetesObject | undefined,
    { apiVersion, kind }: OwnerReference,
  ): readonly ResourceDefinition[] {
    const found = registries.definitions().filter((each) => apiVersionOf(each) === apiVersion && each.kind === kind)
    if (found.length > 0) return found
    const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`
    const unknown = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
    throw forbiddenByAdmission(attributes, object, `${why}: ${unknown}`)
  }
}

/** Who may do this need not be asked about owners one by one, nor about kinds that are not served. */
const finalizingAnything = {
  verb: 'update',
  resource: { group: '*', version: '*', kind: '', plural: '*', namespaced: false },
  subresource: 'finalizers',
  namespace: '',
  name: '*',
}

type ResourceAttributes = Extract<RequestAttributes, { readonly kind: 'resource' }>

function changesOwners(attributes: AdmissionAttributes, object: KubernetesObject | undefined): boolean {
  const { operation, definition, subresource, old } = attributes
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false
  // A status never changes owners, as agents of nodes write it.
  if (subresource === 'status' && definition.plural === pods.plural && definition.group === '') return false
  return !deepEqual(ownersOf(old), ownersOf(object))
}

/** Owners whose deletion the object holds up from now on. */
function newBlockingOwners(
  old: KubernetesObject | undefined,
  object: KubernetesObject | undefined,
): readonly OwnerReference[] {
  const blocked = new Set(blockingOwners(old).map(({ uid }) => uid))
  return blockingOwners(object).filter(({ uid }) => !blocked.has(uid))
}

const blockingOwners = (object: KubernetesObject | undefined): readonly OwnerReference[] =>
  ownersOf(object).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)

const ownersOf = (object: KubernetesObject | undefined): readonly OwnerReference[] =>
  object?.metadata?.ownerReferences ?? []
