import { compareText, type KubernetesObject } from '@coracle/api'
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
  /** Takes the rules of cluster roles with these labels, where there are some. */
  readonly aggregationRule?: Readonly<Record<string, string>>
}

/** What tells people of what is odd and not wrong. */
export type Warn = (text: string) => void

export function generateRole(name: string, flags: RoleFlags, catalog: ResourceCatalog, warn: Warn): KubernetesObject {
  const verbs = verbsOf(flags)
  for (const verb of verbs) if (!standardVerbs.has(verb)) warn(`'${verb}' is not a standard resource verb`)
  if (flags.resource.length === 0) throw new CliError('at least one resource must be specified')
  const rules = resourceRules(verbs, flags, catalog)
  return { apiVersion, kind: 'Role', metadata: { name }, ...{ rules } }
}

export function generateClusterRole(
  name: string,
  flags: ClusterRoleFlags,
  catalog: ResourceCatalog,
  warn: Warn,
): KubernetesObject {
  const { resource, resourceName, nonResourceUrl, aggregationRule: labels = {} } = flags
  if (Object.keys(labels).length > 0) {
    if ([...flags.verb, ...resource, ...resourceName, ...nonResourceUrl].length > 0) {
      throw new CliError(
        'aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames',
      )
    }
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] }
    return { apiVersion, kind: 'ClusterRole', metadata: { name }, ...{ aggregationRule, rules: null } }
  }
  const verbs = verbsOf(flags)
  if (resource.length === 0 && nonResourceUrl.length === 0) {
    throw new CliError('one of resource or nonResourceURL must be specified')
  }
  for (const verb of verbs) {
    if (resource.length > 0 && !standardVerbs.has(verb)) warn(`'${verb}' is not a standard resource verb`)
  }
  const resources = resource.length === 0 ? [] : resourceRules(verbs, flags, catalog)
  if (nonResourceUrl.length > 0) checkUrls(verbs, nonResourceUrl)
  const urls = nonResourceUrl.length === 0 ? [] : [{ nonResourceURLs: [...new Set(nonResourceUrl)], verbs }]
  return { apiVersion, kind: 'ClusterRole', metadata: { name }, ...{ rules: [...resources, ...urls] } }
}

/** Verbs, each once; the one for all of them stands alone. */
function verbsOf({ verb }: RoleFlags): readonly string[] {
  if (verb.length === 0) throw new CliError('at least one verb must be specified')
  return verb.includes('*') ? ['*'] : [...new Set(verb)]
}

const standardVerbs = new Set(
  '* get delete list create update patch watch proxy deletecollection use bind escalate impersonate'.split(' '),
)

/** Verbs that mean something for these resources alone, by `GROUP/PLURAL`; the server need not have them (kubectl's list). */
const specialVerbs: Readonly<Record<string, readonly string[]>> = {
  use: ['policy/podsecuritypolicies', 'extensions/podsecuritypolicies'],
  bind: [`${group}/roles`, `${group}/clusterroles`],
  escalate: [`${group}/roles`, `${group}/clusterroles`],
  impersonate: ['/users', '/serviceaccounts', '/groups', 'authentication.k8s.io/userextras'],
}

const urlVerbs = new Set('* get post put delete patch head options'.split(' '))

function checkUrls(verbs: readonly string[], urls: readonly string[]): void {
  for (const verb of verbs) {
    if (!urlVerbs.has(verb)) throw new CliError(`invalid verb: '${verb}' for nonResourceURL`)
  }
  for (const url of urls) {
    if (url === '*') continue
    if (!url.startsWith('/')) throw new CliError('nonResourceURL should start with /')
    if (url.slice(0, -1).includes('*')) {
      throw new CliError("nonResourceURL only supports wildcard matches when '*' is at the end")
    }
  }
}

/** One rule for each API group. Throws a CliError, in kubectl's words, for types that there are not and verbs that they do not have. */
function resourceRules(
  verbs: readonly string[],
  { resource, resourceName }: RoleFlags,
  catalog: ResourceCatalog,
): readonly object[] {
  const isAll = resource.includes('*')
  const byGroup = new Map<string, Set<string>>()
  for (const text of isAll ? ['*'] : resource) {
    const at = text.indexOf('/')
    const [type, subresource] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
    const found = typeFor(type, verbs, catalog)
    const name = subresource === '' ? found.plural : `${found.plural}/${subresource}`
    byGroup.set(found.group, (byGroup.get(found.group) ?? new Set()).add(name))
  }
  return [...byGroup]
    .sort(([a], [b]) => compareText(a, b))
    .map(([apiGroup, resources]) => ({
      apiGroups: [apiGroup],
      ...(resourceName.length === 0 ? {} : { resourceNames: [...new Set(resourceName)] }),
      resources: [...resources],
      verbs,
    }))
}

function typeFor(type: string, verbs: readonly string[], catalog: ResourceCatalog) {
  const [name = '', ...groups] = type.split('.')
  if (name === '') throw new CliError('resource must be specified if apiGroup/subresource specified')
  const known = catalog.has(type)
  const found = name === '*' || !known ? { group: groups.join('.'), plural: name } : catalog.find(type)
  if (name === '*') return found
  let isSpecial = false
  for (const verb of verbs) {
    const special = specialVerbs[verb]
    if (special === undefined) continue
    if (!special.includes(`${found.group}/${found.plural}`)) {
      throw new CliError(`can not perform '${verb}' on '${found.plural}' in group '${found.group}'`)
    }
    isSpecial = true
  }
  if (!known && !isSpecial) throw unknownType(type)
  return found
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
  if (kind === 'RoleBinding' && (role === '') === (clusterrole === ''))
    throw new CliError('exactly one of clusterrole or role must be specified')
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
