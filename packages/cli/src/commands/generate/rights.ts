import type { KubernetesObject } from '@coracle/api'
import { CliError, SummaryError } from '../../cli-error.ts'
import type { ResourceCatalog } from '../../resources/resource-catalog.ts'

const group = 'rbac.authorization.k8s.io'
const apiVersion = `${group}/v1`

export interface RoleFlags {
  readonly verb: readonly string[]
  /** `deployments.apps/scale` */
  readonly resource: readonly string[]
  readonly resourceName: readonly string[]
}

export interface ClusterRoleFlags extends RoleFlags {
  readonly nonResourceUrl: readonly string[]
  /** `KEY=VALUE,…`: takes the rules of cluster roles with these labels. */
  readonly aggregationRule?: string
}

export function generateRole(name: string, flags: RoleFlags, catalog: ResourceCatalog): KubernetesObject {
  if (flags.verb.length === 0) throw new CliError('at least one verb must be specified')
  if (flags.resource.length === 0) throw new CliError('at least one resource must be specified')
  return { apiVersion, kind: 'Role', metadata: { name }, ...{ rules: resourceRules(flags, catalog) } }
}

export function generateClusterRole(name: string, flags: ClusterRoleFlags, catalog: ResourceCatalog): KubernetesObject {
  if (flags.aggregationRule !== undefined) {
    const labels = Object.fromEntries(flags.aggregationRule.split(',').map((pair) => pair.split('=', 2)))
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] }
    return { apiVersion, kind: 'ClusterRole', metadata: { name }, ...{ aggregationRule, rules: null } }
  }
  if (flags.verb.length === 0) throw new CliError('at least one verb must be specified')
  if (flags.resource.length === 0 && flags.nonResourceUrl.length === 0) {
    throw new CliError('one of resource or nonResourceURL must be specified')
  }
  if (flags.nonResourceUrl.some((url) => url !== '*' && !url.startsWith('/'))) {
    throw new CliError('nonResourceURL should start with /')
  }
  const urls = flags.nonResourceUrl.length === 0 ? [] : [{ nonResourceURLs: flags.nonResourceUrl, verbs: flags.verb }]
  const resources = flags.resource.length === 0 ? [] : resourceRules(flags, catalog)
  return { apiVersion, kind: 'ClusterRole', metadata: { name }, ...{ rules: [...resources, ...urls] } }
}

/** One rule for each API group. */
function resourceRules({ verb, resource, resourceName }: RoleFlags, catalog: ResourceCatalog): readonly object[] {
  const byGroup = new Map<string, string[]>()
  for (const text of resource) {
    const [type = '', subresource] = text.split('/', 2)
    if (type !== '*' && !catalog.has(type)) throw unknownType(type)
    const found = type === '*' ? { group: '', plural: '*' } : catalog.find(type)
    const name = subresource === undefined ? found.plural : `${found.plural}/${subresource}`
    byGroup.set(found.group, [...(byGroup.get(found.group) ?? []), name])
  }
  return [...byGroup].map(([apiGroup, resources]) => ({
    apiGroups: [apiGroup],
    ...(resourceName.length === 0 ? {} : { resourceNames: resourceName }),
    resources,
    verbs: verb,
  }))
}

export interface BindingFlags {
  readonly role?: string
  readonly clusterrole?: string
  readonly user: readonly string[]
  readonly group: readonly string[]
  /** `NAMESPACE:NAME` */
  readonly serviceaccount: readonly string[]
}

/** Gives a role, or a cluster role, to users, groups and service accounts. */
export function generateBinding(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  name: string,
  flags: BindingFlags,
): KubernetesObject {
  const { role = '', clusterrole = '' } = flags
  if (kind === 'ClusterRoleBinding' && clusterrole === '') throw new CliError('required flag(s) "clusterrole" not set')
  if ((role === '') === (clusterrole === '')) throw new CliError('exactly one of clusterrole or role must be specified')
  const roleRef =
    role === ''
      ? { apiGroup: group, kind: 'ClusterRole', name: clusterrole }
      : { apiGroup: group, kind: 'Role', name: role }
  const subjects = [
    ...flags.user.map((each) => ({ apiGroup: group, kind: 'User', name: each })),
    ...flags.group.map((each) => ({ apiGroup: group, kind: 'Group', name: each })),
    ...flags.serviceaccount.map((text) => {
      const [namespace = '', account = '', ...more] = text.split(':')
      if (namespace === '' || account === '' || more.length > 0) {
        throw new CliError('serviceaccount must be <namespace>:<name>')
      }
      return { kind: 'ServiceAccount', name: account, namespace }
    }),
  ]
  return { apiVersion, kind, metadata: { name }, ...{ roleRef, ...(subjects.length === 0 ? {} : { subjects }) } }
}

function unknownType(type: string): SummaryError {
  const [name = '', ...group] = type.split('.')
  const where = group.length === 0 ? '' : ` in group ${JSON.stringify(group.join('.'))}`
  return new SummaryError(`the server doesn't have a resource type ${JSON.stringify(name)}${where}`)
}
