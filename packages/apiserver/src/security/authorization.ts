import type { NonResourceRule, ResourceRule } from '@coracle/api'
import type { Authorizer, RequestAttributes, UserRules } from '../request.ts'
import { builtInGrants, type Grant } from './built-in-grants.ts'

/**
 * The authorizer of a cluster without RBAC objects: `system:masters` may do everything, the components of the cluster
 * what `built-in-grants.ts` gives them, everyone else what upstream gives to everyone. All others are refused.
 */
export function createAuthorizer(grants: readonly Grant[] = builtInGrants): Authorizer {
  const known = authorizers.get(grants)
  if (known !== undefined) return known
  const authorizer = authorizerOf(grants)
  authorizers.set(grants, authorizer)
  return authorizer
}

/** Those of this process, by what they grant: they keep no state, and all clusters in a process have the same. */
const authorizers = new WeakMap<readonly Grant[], Authorizer>()

function authorizerOf(grants: readonly Grant[]): Authorizer {
  const byUser = new Map<string, Permissions>()
  const byGroup = new Map<string, Permissions>()
  for (const grant of grants) {
    const [index, name] = 'user' in grant ? [byUser, grant.user] : [byGroup, grant.group]
    const permissions: Permissions = index.get(name) ?? { resources: new Map(), paths: [] }
    index.set(name, permissions)
    for (const line of grant.resources ?? []) addResources(permissions, line)
    permissions.paths.push(...(grant.paths ?? []))
  }

  return {
    refuse(user, attributes) {
      if (user.groups.includes(mastersGroup)) return undefined
      const own = byUser.get(user.name)
      if (own !== undefined && allows(own, attributes)) return undefined
      for (const group of user.groups) {
        const shared = byGroup.get(group)
        if (shared !== undefined && allows(shared, attributes)) return undefined
      }
      return ''
    },
    rulesFor(user) {
      if (user.groups.includes(mastersGroup)) return everything
      const granted = [byUser.get(user.name), ...user.groups.map((group) => byGroup.get(group))]
      const all = granted.filter((permissions) => permissions !== undefined)
      return { resources: all.flatMap(resourceRulesOf), paths: all.flatMap(pathRulesOf) }
    },
  }
}

/** Whoever is in it may do everything. */
const mastersGroup = 'system:masters'

const everything: UserRules = {
  resources: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  paths: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

function resourceRulesOf({ resources }: Permissions): readonly ResourceRule[] {
  return [...resources].map(([key, verbs]) => {
    const [qualified = '', subresource] = key.split('/')
    const dot = qualified.indexOf('.')
    const plural = dot < 0 ? qualified : qualified.slice(0, dot)
    const group = plural === '*' ? '*' : dot < 0 ? '' : qualified.slice(dot + 1)
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`
    return { verbs: [...verbs], apiGroups: [group], resources: [resource] }
  })
}

const pathRulesOf = ({ paths }: Permissions): readonly NonResourceRule[] =>
  paths.length === 0 ? [] : [{ verbs: ['get'], nonResourceURLs: [...paths] }]

/** Allows what any of several allows. Refuses with all their reasons. */
export function unionOf(authorizers: readonly Authorizer[]): Authorizer {
  return {
    refuse(user, attributes) {
      let reasons = ''
      for (const authorizer of authorizers) {
        const why = authorizer.refuse(user, attributes)
        if (why === undefined) return undefined
        if (why !== '') reasons += reasons === '' ? why : `\n${why}`
      }
      return reasons
    },
    rulesFor(user, namespace) {
      const all = authorizers.map((each) => each.rulesFor?.(user, namespace) ?? unknownRules)
      const reasons = all.flatMap(({ incomplete }) => incomplete ?? [])
      return {
        resources: all.flatMap(({ resources }) => resources),
        paths: all.flatMap(({ paths }) => paths),
        ...(reasons.length === 0 ? {} : { incomplete: reasons.join(', ') }),
      }
    },
  }
}

const unknownRules: UserRules = {
  resources: [],
  paths: [],
  incomplete: 'an authorizer does not support user rule resolution',
}

interface Permissions {
  /** Verbs by `resource.group/subresource`. */
  readonly resources: Map<string, Set<string>>
  readonly paths: string[]
}

const verbsOf: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  change: ['update', 'patch'],
  remove: ['delete', 'deletecollection'],
}

/** Takes in one line of the table: `read,create pods,services`. */
function addResources(permissions: Permissions, line: string): void {
  const [verbs = '', resources = ''] = line.split(' ')
  for (const resource of resources.split(',')) {
    const granted = permissions.resources.get(resource) ?? new Set<string>()
    permissions.resources.set(resource, granted)
    for (const verb of verbs.split(',')) for (const each of verbsOf[verb] ?? [verb]) granted.add(each)
  }
}

function allows(permissions: Permissions, attributes: RequestAttributes): boolean {
  if (attributes.kind === 'path') {
    return attributes.verb === 'get' && permissions.paths.some((pattern) => matchesPath(pattern, attributes.path))
  }
  const { verb, resource, subresource } = attributes
  const qualified = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
  const key = subresource === '' ? qualified : `${qualified}/${subresource}`
  const { resources } = permissions
  if (resources.get(key)?.has(verb) === true || resources.get('*')?.has(verb) === true) return true
  if (resources.get(`*.${resource.group}`)?.has(verb) === true) return true
  return subresource !== '' && resources.get(`*/${subresource}`)?.has(verb) === true
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path
