import {
  clusterRoleBindings,
  clusterRoles,
  deepEqual,
  type FieldOwners,
  type KubernetesObject,
  type Resource,
  roleBindings,
  roles,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { apiServerOrigin } from '../../api-server-user.ts'
import type { Registries } from '../../registries.ts'
import { managerOf, ownersOfNew } from '../../registry/field-ownership.ts'
import type { JointObject } from '../../registry/object-writer.ts'
import { prepareForCreate } from '../../registry/preparation.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { RegistryWriteOptions } from '../../registry-contract.ts'
import { defaultPolicy } from './policy/default-policy.ts'

/** Most objects that are created in one transaction: etcd takes 128 operations unless it is told otherwise. */
export const objectsPerTransactionMax = 100

/** How often creation is tried where another server on the same store creates the same. */
const attemptsMax = 5

/**
 * Sees to it that the default roles and bindings are there, as upstream's post-start hook `rbac/bootstrap-roles`: creates those
 * that are not, and gives the others what they lack of rules, subjects, labels and annotations. What somebody has added stays,
 * and so do objects with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"`. A binding of another role is made
 * anew. Nothing is written where nothing is missing.
 */
export async function reconcileDefaultPolicy(registries: Registries, environment: Environment): Promise<void> {
  const all = wantedObjects(registries)
  const present = all.filter((wanted) => storedOf(wanted) !== undefined)
  await createMissing(all, environment)
  const different = present.filter((wanted) => !isAsWanted(storedOf(wanted), wanted.object))
  if (different.length === 0) return
  // Only where somebody has changed something, or an earlier version has written it.
  const { completeObject } = await import('./complete-object.ts')
  for (const { registry, object } of different) await completeObject(registry, object, environment.logger)
}

/** An object of the default policy, and where it belongs. */
interface Wanted {
  readonly registry: ResourceRegistry
  readonly object: KubernetesObject
}

function wantedObjects(registries: Registries): readonly Wanted[] {
  const policy = defaultPolicy()
  const wanted = <T extends KubernetesObject>(resource: Resource<T>, objects: readonly T[]): readonly Wanted[] => {
    const registry = registries.of(resource)
    return registry === undefined ? [] : objects.map((object) => ({ registry, object }))
  }
  return [
    ...wanted(clusterRoles, policy.clusterRoles),
    ...wanted(clusterRoleBindings, policy.clusterRoleBindings),
    ...wanted(roles, policy.roles),
    ...wanted(roleBindings, policy.roleBindings),
  ]
}

function storedOf({ registry, object: { metadata } }: Wanted): KubernetesObject | undefined {
  return registry.peek(metadata.namespace ?? '', metadata.name ?? '')?.object
}

/**
 * Creates what is not there, many objects at a time and past admission, which has nothing to say to them: a start should not cost
 * a hundred requests.
 */
async function createMissing(all: readonly Wanted[], environment: Environment): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const missing = all.filter((wanted) => storedOf(wanted) === undefined)
    if (missing.length === 0) return
    for (let at = 0; at < missing.length; at += objectsPerTransactionMax) {
      await createTogether(missing.slice(at, at + objectsPerTransactionMax), environment)
    }
  }
}

async function createTogether(wanted: readonly Wanted[], { clock, random }: Environment): Promise<void> {
  const nowMs = clock.now()
  const ownersByShape = new Map<string, FieldOwners>()
  const joint: (JointObject & { readonly owners: FieldOwners; readonly object: KubernetesObject })[] = []
  for (const { registry, object } of wanted) {
    const { kind, cache, writer } = registry.storage
    const { namespace = '', name = '' } = object.metadata
    const prepared = prepareForCreate(kind, object, { namespace, name, uid: random.uuid() }, nowMs)
    const shape = shapeOf(object)
    const owners = ownersByShape.get(shape) ?? (await ownersOf(registry, object, nowMs))
    ownersByShape.set(shape, owners)
    joint.push({ writer, key: cache.keyOf(namespace, name), old: undefined, object: prepared, owners })
  }
  const [first, ...others] = joint
  if (first === undefined) return
  // Undefined where another server was faster with one of them: what is missing then is found anew.
  await first.writer.put(first.key, first.object, first.owners, 0, origin, others)
}

const origin = apiServerOrigin('create', 'every cluster has these roles and bindings')

function ownersOf(
  { definition, storage }: ResourceRegistry,
  object: KubernetesObject,
  nowMs: number,
): FieldOwners | Promise<FieldOwners> {
  const manager = managerOf(origin.context, managerFromContext, definition, '', 'Update')
  return ownersOfNew(storage.kind, definition, object, undefined, manager, nowMs)
}

/** Objects of one shape have the same owned fields: their rules, subjects and role references are owned as a whole. */
function shapeOf(object: KubernetesObject): string {
  const { labels = {}, annotations = {} } = object.metadata
  return [object.kind, ...Object.keys(object), '', ...Object.keys(labels), '', ...Object.keys(annotations)].join(' ')
}

/** Fields are owned by the program that writes. */
const managerFromContext: RegistryWriteOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Ignore' }

/** Whether an object has what is wanted of it and nothing else. Others may have more, which a closer look shows. */
function isAsWanted(stored: KubernetesObject | undefined, wanted: KubernetesObject): boolean {
  if (stored === undefined) return false
  const { metadata: has, ...content } = stored
  const { metadata: wants, ...wantedContent } = wanted
  return (
    deepEqual(has.labels, wants.labels) &&
    deepEqual(has.annotations, wants.annotations) &&
    deepEqual(withoutAggregated(content), withoutAggregated(wantedContent))
  )
}

/** The rules of a role that is put together from others are what its controller makes them. */
function withoutAggregated<T extends object>(content: T): object {
  if (!('aggregationRule' in content)) return content
  const { rules: _rules, ...rest } = content as T & { readonly rules?: unknown }
  return rest
}
