import type { FlowSchema, FlowSubject, NonResourcePolicyRule, ResourcePolicyRule } from '@coracle/api'
import type { Route } from '../http/routes.ts'
import type { User } from '../request.ts'

const wildcard = '*'

/** Whether a FlowSchema means the request of a user (apiserver, util/flowcontrol/rule.go). */
export function matches({ spec }: FlowSchema, user: User, route: Route): boolean {
  return (spec?.rules ?? []).some(({ subjects, resourceRules = [], nonResourceRules = [] }) => {
    if (!subjects.some((subject) => isMeant(subject, user))) return false
    return route.kind === 'resource'
      ? resourceRules.some((rule) => isResourceMeant(rule, route))
      : nonResourceRules.some((rule) => isPathMeant(rule, route))
  })
}

function isMeant({ kind, user: named, group, serviceAccount }: FlowSubject, user: User): boolean {
  switch (kind) {
    case 'User':
      return named !== undefined && (named.name === wildcard || named.name === user.name)
    case 'Group':
      return group !== undefined && (group.name === wildcard || user.groups.includes(group.name))
    case 'ServiceAccount': {
      if (serviceAccount === undefined) return false
      const prefix = `system:serviceaccount:${serviceAccount.namespace}:`
      return serviceAccount.name === wildcard
        ? user.name.startsWith(prefix)
        : user.name === `${prefix}${serviceAccount.name}`
    }
    default:
      return false
  }
}

function isResourceMeant(rule: ResourcePolicyRule, route: Extract<Route, { readonly kind: 'resource' }>): boolean {
  const { verb, group, plural, subresource, namespace } = route
  return (
    includes(rule.verbs, verb) &&
    includes(rule.resources, subresource === '' ? plural : `${plural}/${subresource}`) &&
    includes(rule.apiGroups, group) &&
    (namespace === '' ? rule.clusterScope === true : includes(rule.namespaces ?? [], namespace))
  )
}

const isPathMeant = (
  { verbs, nonResourceURLs }: NonResourcePolicyRule,
  route: { verb: string; path: string },
): boolean => includes(verbs, route.verb) && nonResourceURLs.some((url) => isUnder(url, route.path))

/** `/a` and `/a/*` mean all that is below `/a` (matchPolicyRuleNonResourceURL). */
function isUnder(url: string, path: string): boolean {
  if (url === wildcard || url === path) return true
  const prefix = url.endsWith(wildcard) ? url.slice(0, -1) : url
  return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)
}

/** A wildcard counts where it stands alone. */
const includes = (list: readonly string[], value: string): boolean =>
  (list.length === 1 && list[0] === wildcard) || list.includes(value)

/** What tells the flows of a schema apart; all its requests are one flow where it does not say. */
export function distinguisherOf({ spec }: FlowSchema, user: User, route: Route): string {
  switch (spec?.distinguisherMethod?.type) {
    case 'ByUser':
      return user.name
    case 'ByNamespace':
      return route.kind === 'resource' ? route.namespace : ''
    default:
      return ''
  }
}
