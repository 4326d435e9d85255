import { mastersGroup } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import type { Authorizer, UserRules } from '../request.ts'
import { createNodeAuthorizer } from './node-authorizer.ts'
import type { RbacAuthorizer } from './rbac/rbac-authorizer.ts'

/** What decides about requests, by kube-apiserver's names. */
type AuthorizationMode = 'AlwaysAllow' | 'Node' | 'RBAC'

/** What decides unless something else is asked for: kube-apiserver's usual setting. */
export const defaultAuthorizationModes: readonly string[] = ['Node', 'RBAC'] satisfies readonly AuthorizationMode[]

/** Something is to decide about requests that there is not. */
export class UnknownAuthorizationModeError extends Error {
  override readonly name = 'UnknownAuthorizationModeError'
}

/**
 * Members of `system:masters` may do everything; of others, each mode is asked in turn until one allows. Throws an
 * UnknownAuthorizationModeError.
 */
export function createAuthorizer(registries: Registries, rbac: RbacAuthorizer, modes: readonly string[]): Authorizer {
  const authorizers: Readonly<Record<AuthorizationMode, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    Node: () => createNodeAuthorizer(registries),
    RBAC: () => rbac,
  }
  const isKnown = (mode: string): mode is AuthorizationMode => Object.hasOwn(authorizers, mode)
  const chosen = modes.map((mode) => {
    if (isKnown(mode)) return authorizers[mode]()
    const names = Object.keys(authorizers).join(', ')
    throw new UnknownAuthorizationModeError(`authorization mode ${JSON.stringify(mode)} is unknown: there are ${names}`)
  })
  return unionOf([privilegedGroup, ...chosen])
}

/** Has no rules to list: with RBAC they are those of the role `cluster-admin`, which the group is bound to. */
const privilegedGroup: Authorizer = {
  refuse: (user) => (user.groups.includes(mastersGroup) ? undefined : ''),
  rulesFor: () => noRules,
}

const noRules: UserRules = { resources: [], paths: [] }

/** Whether requests without credentials are taken: not where everybody may do everything, as with kube-apiserver. */
export const takesAnonymous = (modes: readonly string[]): boolean =>
  !modes.includes('AlwaysAllow' satisfies AuthorizationMode)

const alwaysAllow: Authorizer = {
  refuse: () => undefined,
  rulesFor: () => ({
    resources: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    paths: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
}

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
    allowedBy(user, attributes) {
      const allowing = authorizers.find((authorizer) => authorizer.refuse(user, attributes) === undefined)
      return allowing?.allowedBy?.(user, attributes) ?? ''
    },
    rulesFor(user, namespace) {
      const all = authorizers.map((each) => each.rulesFor?.(user, namespace) ?? unknownRules)
      return {
        resources: all.flatMap(({ resources }) => resources),
        paths: all.flatMap(({ paths }) => paths),
        ...joined('incomplete', all),
        ...joined('error', all),
      }
    },
  }
}

function joined(key: 'incomplete' | 'error', all: readonly UserRules[]): Partial<UserRules> {
  const reasons = all.flatMap((rules) => rules[key] ?? [])
  return reasons.length === 0 ? {} : { [key]: reasons.join(', ') }
}

const unknownRules: UserRules = {
  ...noRules,
  incomplete: 'an authorizer does not support user rule resolution',
}
