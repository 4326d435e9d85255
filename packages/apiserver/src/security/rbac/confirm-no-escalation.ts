import {
  type ClusterRole,
  clusterRoles,
  deepEqual,
  forbidden,
  type KubernetesObject,
  notFound,
  type PolicyRule,
  type Role,
  type RoleBinding,
  type RoleRef,
  roles,
} from '@coracle/api'
import { uncoveredRules } from '@coracle/api/rbac'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import type { Authorizer, User } from '../../request.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'

/** Throws a Forbidden where somebody is about to grant by a role or a binding what they do not have. */
export function confirmNoEscalation(
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  object: KubernetesObject,
): void {
  const { definition, context, namespace, old } = attributes
  // The garbage collector lets go of objects whose rights it does not have.
  if (old !== undefined && differsInOwnersOnly(object, old)) return
  const why = definition.kind.endsWith('Binding')
    ? whyNotBind(rbac, authorizer, context.user, namespace, (object as RoleBinding).roleRef)
    : whyNotGrant(rbac, authorizer, attributes, object as Role)
  if (why !== undefined) throw forbidden(definition, object.metadata.name ?? '', why)
}

/** What the garbage collector changes of an object to have it deleted in the end: its owners and its finalizers. */
function differsInOwnersOnly(object: KubernetesObject, old: KubernetesObject): boolean {
  const compared = ({ metadata, ...content }: KubernetesObject) => {
    const { ownerReferences: _owners, finalizers: _finalizers, resourceVersion: _version, ...rest } = metadata
    return { ...content, metadata: rest }
  }
  return deepEqual(compared(object), compared(old))
}

function whyNotGrant(
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
  { definition, context: { user }, namespace, name, operation, old }: AdmissionAttributes,
  role: Role | ClusterRole,
): string | undefined {
  // The path of a create names no object, so no right to escalate one of a certain name covers it.
  const asked = operation === 'CREATE' ? '' : name
  if (may(authorizer, user, 'escalate', definition, namespace, asked)) return undefined
  const missing = whatIsMissing(rbac, user, namespace, role.rules ?? [])
  if (missing !== undefined) return missing
  if (!isAggregated(role) && !isAggregated(old)) return undefined
  // It may gather anything.
  const isEnough = whatIsMissing(rbac, user, namespace, fullAuthority) === undefined
  return isEnough ? undefined : 'must have cluster-admin privileges to use the aggregationRule'
}

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

const isAggregated = (role: KubernetesObject | undefined): boolean =>
  ((role as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors ?? []).length > 0

function whyNotBind(
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
  user: User,
  namespace: string,
  roleRef: RoleRef,
): string | undefined {
  const { apiGroup = '', kind, name } = roleRef
  // That there is no such kind of role is for validation to say.
  if (kind !== 'Role' && kind !== 'ClusterRole') return undefined
  const role = kind === 'Role' ? roles : clusterRoles
  if (may(authorizer, user, 'bind', { ...role, group: apiGroup }, namespace, name)) return undefined
  const rules = rbac.rulesOf(roleRef, namespace)
  if (rules === undefined) throw notFound(role, name)
  return whatIsMissing(rbac, user, namespace, rules)
}

function may(
  authorizer: Authorizer,
  user: User,
  verb: 'bind' | 'escalate',
  resource: typeof roles | AdmissionAttributes['definition'],
  namespace: string,
  name: string,
): boolean {
  const { group, version, kind, plural, namespaced } = resource
  const asked = { group, version, kind, plural, namespaced }
  const attributes = { kind: 'resource', verb, resource: asked, subresource: '', namespace, name } as const
  return authorizer.refuse(user, attributes) === undefined
}

/** So much of what is missing is told, each verb of each resource by itself: a small role may speak of thousands of millions. */
const toldRulesMax = 1_000

/** What a user would have to have to grant these rules, in upstream's words; undefined where nothing is missing. */
function whatIsMissing(
  rbac: RbacAuthorizer,
  user: User,
  namespace: string,
  rules: readonly PolicyRule[],
): string | undefined {
  const own = rbac.resolve(user, namespace)
  const missing = uncoveredRules(rules, own.rules, toldRulesMax)
  if (missing.length === 0) return undefined
  const lines = [...new Set(compacted(missing).map(ruleText))].sort()
  const groups = user.groups.map(quoted).join(' ')
  const problems = [
    ...new Set(
      own.missing.map(({ kind, name }) => `${kind.toLowerCase()}s.rbac.authorization.k8s.io ${quoted(name)} not found`),
    ),
  ]
  const [only = '', ...others] = problems
  const resolution = others.length === 0 ? only : `[${problems.join(', ')}]`
  return (
    `user ${quoted(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n` +
    lines.join('\n') +
    (resolution === '' ? '' : `; resolution errors: [${resolution}]`)
  )
}

/** Rules of one verb each as rules of several, where they are about the same resource. */
function compacted(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const compact = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const { verbs, ...what } = rule
    const key = JSON.stringify(what.nonResourceURLs === undefined ? what : rule)
    const known = compact.get(key)
    compact.set(key, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...verbs] })
  }
  return [...compact.values()]
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}` */
function ruleText({ verbs, apiGroups, resources, nonResourceURLs, resourceNames }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  })
  const shown = parts.filter(([, values = []]) => values.length > 0)
  return `{${shown.map(([part, values = []]) => `${part}:[${values.map(quoted).join(' ')}]`).join(', ')}}`
}

const quoted = (text: string): string => JSON.stringify(text)
