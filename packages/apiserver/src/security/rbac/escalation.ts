import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '@coracle/api'
import type { AdmissionPlugin, AdmissionTarget } from '../../admission/admission.ts'
import { mastersGroup } from '../../api-server-user.ts'
import type { Authorizer } from '../../request.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'

const guarded: ReadonlySet<string> = new Set(
  [roles, clusterRoles, roleBindings, clusterRoleBindings].map(groupAndPlural),
)

/**
 * Nobody gives away rights that they do not have (pkg/registry/rbac): whoever writes a role needs all that it grants, or may
 * `escalate` it; whoever writes a binding needs all that its role grants, or may `bind` it. What other plugins have made of the object
 * counts, so this one comes last, and nobody can leave it out.
 */
export function escalationCheck(rbac: RbacAuthorizer, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    concerns: isGuarded,
    mutate(attributes, object) {
      if (object === undefined) return object
      if (attributes.context.user.groups.includes(mastersGroup)) return object
      // Few write roles, and most who do may do everything.
      return import('./confirm-no-escalation.ts').then(({ confirmNoEscalation }) => {
        confirmNoEscalation(rbac, authorizer, attributes, object)
        return object
      })
    },
  }
}

const isGuarded = ({ definition, subresource, operation }: AdmissionTarget): boolean =>
  guarded.has(groupAndPlural(definition)) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')

function groupAndPlural({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return `${plural}.${group}`
}
