import {
  type ClusterRoleBinding,
  clusterRoleBindings,
  type Resource,
  type RoleBinding,
  roleBindings,
  type Subject,
} from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { User } from '../../request.ts'

/** A binding that gives a role to a user. */
export interface Grant {
  readonly binding: RoleBinding | ClusterRoleBinding
  /** Of the binding: the one that the user is. */
  readonly subject: Subject
}

/**
 * Who is bound to roles, by subject and by namespace: what a user is given is found at the cost of what it is, however many
 * bindings there are. Made when it is first asked, and kept from then on by what changes in this server's caches.
 */
export class BindingIndex {
  readonly #registries: Registries
  #inCluster: Subjects | undefined
  readonly #inNamespaces = new Map<string, Subjects>()

  constructor(registries: Registries) {
    this.#registries = registries
  }

  /** What a user is given everywhere, then what it is given in the namespace; `visit` returning false ends it. */
  visit(user: User, namespace: string, visit: (grant: Grant) => boolean): void {
    this.#inCluster ??= this.#build()
    if (!visitSubjects(this.#inCluster, user, visit) || namespace === '') return
    const subjects = this.#inNamespaces.get(namespace)
    if (subjects !== undefined) visitSubjects(subjects, user, visit)
  }

  #build(): Subjects {
    const inCluster = emptySubjects()
    this.#follow(clusterRoleBindings, () => inCluster)
    this.#follow(roleBindings, (namespace) => {
      const known = this.#inNamespaces.get(namespace)
      if (known !== undefined) return known
      const subjects = emptySubjects()
      this.#inNamespaces.set(namespace, subjects)
      return subjects
    })
    return inCluster
  }

  #follow(resource: Resource<Binding>, subjectsOf: (namespace: string) => Subjects): void {
    const cache = this.#registries.of(resource)?.storage.cache
    if (cache === undefined) return
    const change = (operation: typeof add, binding: Binding) => {
      const { namespace = '' } = binding.metadata
      const subjects = subjectsOf(namespace)
      operation(subjects, binding, namespace)
      if (namespace !== '' && subjects.users.size + subjects.groups.size === 0) this.#inNamespaces.delete(namespace)
    }
    for (const { object } of cache.values()) change(add, object as Binding)
    cache.onChange(({ type, stored, previous }) => {
      if (previous !== undefined) change(remove, previous.object as Binding)
      if (type !== 'DELETED') change(add, stored.object as Binding)
    })
  }
}

type Binding = RoleBinding | ClusterRoleBinding

/** Grants by the name of the user or the group, then by the name of the binding. */
interface Subjects {
  readonly users: Map<string, Map<string, Grant>>
  readonly groups: Map<string, Map<string, Grant>>
}

const emptySubjects = (): Subjects => ({ users: new Map(), groups: new Map() })

function visitSubjects({ users, groups }: Subjects, user: User, visit: (grant: Grant) => boolean): boolean {
  const own = users.get(user.name)
  if (own !== undefined) for (const grant of own.values()) if (!visit(grant)) return false
  if (groups.size === 0) return true
  for (const name of user.groups) {
    const shared = groups.get(name)
    if (shared !== undefined) for (const grant of shared.values()) if (!visit(grant)) return false
  }
  return true
}

function add(subjects: Subjects, binding: Binding, namespace: string): void {
  for (const subject of binding.subjects ?? []) {
    const filed = fileOf(subjects, subject, namespace)
    if (filed === undefined) continue
    const [index, name] = filed
    const grants = index.get(name) ?? new Map<string, Grant>()
    index.set(name, grants)
    const key = binding.metadata.name ?? ''
    // The first subject that a user is counts, as upstream: it is the one that a review names.
    if (!grants.has(key)) grants.set(key, { binding, subject })
  }
}

function remove(subjects: Subjects, binding: Binding, namespace: string): void {
  for (const subject of binding.subjects ?? []) {
    const filed = fileOf(subjects, subject, namespace)
    if (filed === undefined) continue
    const [index, name] = filed
    const grants = index.get(name)
    grants?.delete(binding.metadata.name ?? '')
    if (grants?.size === 0) index.delete(name)
  }
}

/** Where a subject is filed, and under which name; undefined where it can be nobody. */
function fileOf(
  { users, groups }: Subjects,
  { kind, name, namespace: own = '' }: Subject,
  bindingNamespace: string,
): readonly [Map<string, Map<string, Grant>>, string] | undefined {
  switch (kind) {
    case 'User':
      return [users, name]
    case 'Group':
      return [groups, name]
    case 'ServiceAccount': {
      const namespace = own === '' ? bindingNamespace : own
      return namespace === '' ? undefined : [users, `system:serviceaccount:${namespace}:${name}`]
    }
    default:
      return undefined
  }
}
