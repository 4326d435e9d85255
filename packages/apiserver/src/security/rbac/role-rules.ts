import {
  type ClusterRole,
  clusterRoles,
  type PolicyRule,
  type ResourceAccess,
  type Role,
  type RoleRef,
  roles,
  ruleAllowsPath,
  ruleAllowsResource,
} from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { RequestAttributes } from '../../request.ts'

/** The rules of a role, found by the resources they are about. */
export class RoleRules {
  readonly all: readonly PolicyRule[]
  readonly #byResource = new Map<string, PolicyRule[]>()
  readonly #ofPaths: readonly PolicyRule[]

  constructor(rules: readonly PolicyRule[]) {
    this.all = rules
    this.#ofPaths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
    for (const rule of rules) {
      for (const resource of new Set(rule.resources)) {
        const known = this.#byResource.get(resource)
        if (known === undefined) this.#byResource.set(resource, [rule])
        else known.push(rule)
      }
    }
  }

  /** Whether one of the rules allows a request. */
  allow(request: RequestedAccess): boolean {
    if (request.kind === 'path') return this.#ofPaths.some((rule) => ruleAllowsPath(rule, request.verb, request.path))
    const { combined, anyWithSubresource } = request
    return (
      this.#someAllows(combined, request) ||
      this.#someAllows('*', request) ||
      (anyWithSubresource !== '' && this.#someAllows(anyWithSubresource, request))
    )
  }

  #someAllows(resource: string, access: ResourceAccess): boolean {
    return this.#byResource.get(resource)?.some((rule) => ruleAllowsResource(rule, access)) === true
  }
}

/** A request, with the texts by which rules about it are found: made once, however many roles are asked. */
export type RequestedAccess =
  | (ResourceAccess & {
      readonly kind: 'resource'
      /** `pods/log` */
      readonly combined: string
      /** The same of any resource; empty where no subresource is asked for. */
      readonly anyWithSubresource: string
    })
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

export function accessOf(attributes: RequestAttributes): RequestedAccess {
  if (attributes.kind === 'path') return attributes
  const { verb, resource, subresource, name } = attributes
  const { group, plural } = resource
  const hasSubresource = subresource !== ''
  return {
    kind: 'resource',
    verb,
    group,
    plural,
    subresource,
    name,
    combined: hasSubresource ? `${plural}/${subresource}` : plural,
    anyWithSubresource: hasSubresource ? `*/${subresource}` : '',
  }
}

/** Finds the rules of roles in this server's caches. */
export class RoleFinder {
  readonly #registries: Registries
  /** By the role as it is stored: what changes it replaces it. */
  readonly #known = new WeakMap<object, RoleRules>()
  #clusterRoles: ResourceRegistry | undefined
  #roles: ResourceRegistry | undefined

  constructor(registries: Registries) {
    this.#registries = registries
  }

  /** The rules of the role that a binding of this namespace refers to; undefined where there is none. */
  find({ kind, name }: RoleRef, namespace: string): RoleRules | undefined {
    const stored = kind === 'ClusterRole' ? this.#inCluster?.peek('', name) : this.#inNamespaces?.peek(namespace, name)
    if (stored === undefined) return undefined
    const role = stored.object as Role | ClusterRole
    const known = this.#known.get(role)
    if (known !== undefined) return known
    const rules = new RoleRules(role.rules ?? [])
    this.#known.set(role, rules)
    return rules
  }

  get #inCluster(): ResourceRegistry | undefined {
    this.#clusterRoles ??= this.#registries.of(clusterRoles)
    return this.#clusterRoles
  }

  get #inNamespaces(): ResourceRegistry | undefined {
    this.#roles ??= this.#registries.of(roles)
    return this.#roles
  }
}
