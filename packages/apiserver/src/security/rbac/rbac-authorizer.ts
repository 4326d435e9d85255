import type { NonResourceRule, PolicyRule, ResourceRule, RoleRef } from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { Authorizer, User } from '../../request.ts'
import { BindingIndex, type Grant } from './binding-index.ts'
import { accessOf, RoleFinder, type RoleRules } from './role-rules.ts'

/** The rules that apply to somebody, and what kept others from being found. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[]
  readonly missing: readonly RoleRef[]
}

/** Authorization by Roles, ClusterRoles and their bindings (plugin/pkg/auth/authorizer/rbac). */
export interface RbacAuthorizer extends Authorizer {
  /** What is granted to a user everywhere and, unless it is empty, in a namespace. */
  resolve(user: User, namespace: string): ResolvedRules
  /** The rules of the role that a binding of a namespace refers to; undefined where there is none. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined
}

/**
 * Decides by the roles and bindings in this server's own caches, without asking the store: what this server has acknowledged
 * counts for the next request, what another has as soon as its watch tells of it, as upstream.
 */
export function createRbacAuthorizer(registries: Registries): RbacAuthorizer {
  const bindings = new BindingIndex(registries)
  const roles = new RoleFinder(registries)
  const rulesOf = ({ binding }: Grant): RoleRules | undefined =>
    roles.find(binding.roleRef, binding.metadata.namespace ?? '')

  const resolve = (user: User, namespace: string): ResolvedRules => {
    const rules: PolicyRule[] = []
    const missing: RoleRef[] = []
    const seen = new Set<unknown>()
    bindings.visit(user, namespace, (grant) => {
      // A binding may name a user and a group that it is in.
      if (seen.has(grant.binding)) return true
      seen.add(grant.binding)
      const found = rulesOf(grant)
      if (found === undefined) missing.push(grant.binding.roleRef)
      else rules.push(...found.all)
      return true
    })
    return { rules, missing }
  }

  return {
    refuse(user, attributes) {
      const access = accessOf(attributes)
      let allowed = false
      let missing: RoleRef[] | undefined
      bindings.visit(user, namespaceOf(attributes), (grant) => {
        const rules = rulesOf(grant)
        if (rules === undefined) {
          missing ??= []
          missing.push(grant.binding.roleRef)
        } else allowed = rules.allow(access)
        return !allowed
      })
      if (allowed) return undefined
      return missing === undefined ? '' : `RBAC: ${aggregated(missing.map(notFound))}`
    },
    allowedBy(user, attributes) {
      const access = accessOf(attributes)
      let by: Grant | undefined
      bindings.visit(user, namespaceOf(attributes), (grant) => {
        if (rulesOf(grant)?.allow(access) === true) by = grant
        return by === undefined
      })
      return by === undefined ? '' : `RBAC: allowed by ${describeGrant(by)}`
    },
    rulesFor(user, namespace) {
      const { rules, missing } = resolve(user, namespace)
      return {
        resources: rules.flatMap(resourceRuleOf),
        paths: rules.flatMap(pathRuleOf),
        ...(missing.length === 0 ? {} : { error: aggregated(missing.map(notFound)) }),
      }
    },
    resolve,
    rulesOf: (roleRef, namespace) => roles.find(roleRef, namespace)?.all,
  }
}

const namespaceOf = (attributes: Parameters<Authorizer['refuse']>[1]): string =>
  attributes.kind === 'path' ? '' : attributes.namespace

function resourceRuleOf({ verbs, apiGroups, resources = [], resourceNames }: PolicyRule): readonly ResourceRule[] {
  if (resources.length === 0) return []
  return [
    {
      verbs,
      ...(apiGroups === undefined ? {} : { apiGroups }),
      resources,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    },
  ]
}

const pathRuleOf = ({ verbs, nonResourceURLs = [] }: PolicyRule): readonly NonResourceRule[] =>
  nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }]

/** In the words of upstream's listers, which name kinds in the singular. */
const notFound = ({ kind, name }: RoleRef): string =>
  `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`

/** Several errors as one, as upstream's aggregates: each once. */
function aggregated(errors: readonly string[]): string {
  const each = [...new Set(errors)]
  return each.length === 1 ? (each[0] ?? '') : `[${each.join(', ')}]`
}

function describeGrant({ binding, subject }: Grant): string {
  const { name = '', namespace = '' } = binding.metadata
  const { roleRef } = binding
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const where = namespace === '' ? name : `${name}/${namespace}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  return `${kind} ${quoted(where)} of ${roleRef.kind} ${quoted(roleRef.name)} to ${subject.kind} ${quoted(who)}`
}

const quoted = (text: string): string => JSON.stringify(text)
