import { type FieldOwners, formatTime, type KubernetesObject, noFields } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { WriteOrigin } from '../causes/cause-note.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import { managerOf, ownersOfNew } from './field-ownership.ts'
import type { JointObject } from './object-writer.ts'
import { prepareForCreate } from './preparation.ts'
import type { ResourceRegistry } from './resource-registry.ts'

/** Most objects that are created in one transaction: etcd takes 128 operations unless it is told otherwise. */
export const objectsPerTransactionMax = 100

/** How often creation is tried where another server on the same store creates the same. */
const attemptsMax = 5

/** An object that is to be there, and where it belongs. */
export interface Wanted {
  readonly registry: ResourceRegistry
  readonly object: KubernetesObject
  /** What its status is to be at once, of kinds that have one. */
  readonly status?: object
  /** Whose the content of a field is: it is as if this manager had applied it. */
  readonly applied?: { readonly field: string; readonly by: string }
}

/** What is stored in the place of an object. */
export function storedOf({ registry, object: { metadata } }: Wanted): KubernetesObject | undefined {
  return registry.peek(metadata.namespace ?? '', metadata.name ?? '')?.object
}

/**
 * Creates what is not there, many objects at a time and past admission, which has nothing to say to them: a start should not cost
 * a hundred requests.
 */
export async function createMissing(
  all: readonly Wanted[],
  origin: WriteOrigin,
  environment: Environment,
): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const missing = all.filter((wanted) => storedOf(wanted) === undefined)
    if (missing.length === 0) return
    for (let at = 0; at < missing.length; at += objectsPerTransactionMax) {
      await createTogether(missing.slice(at, at + objectsPerTransactionMax), origin, environment)
    }
  }
}

async function createTogether(
  wanted: readonly Wanted[],
  origin: WriteOrigin,
  { clock, random }: Environment,
): Promise<void> {
  const nowMs = clock.now()
  const ownersByShape = new Map<string, FieldOwners>()
  const joint: (JointObject & { readonly owners: FieldOwners; readonly object: KubernetesObject })[] = []
  for (const each of wanted) {
    const { registry, object, status } = each
    const { kind, cache, writer } = registry.storage
    const { namespace = '', name = '' } = object.metadata
    const prepared = prepareForCreate(kind, object, { namespace, name, uid: random.uuid() }, nowMs)
    const shape = shapeOf(object)
    const owners = ownersByShape.get(shape) ?? (await ownersOf(each, origin, nowMs))
    ownersByShape.set(shape, owners)
    const whole = status === undefined ? prepared : { ...prepared, status }
    joint.push({ writer, key: cache.keyOf(namespace, name), old: undefined, object: whole, owners })
  }
  const [first, ...others] = joint
  if (first === undefined) return
  // Undefined where another server was faster with one of them: what is missing then is found anew.
  await first.writer.put(first.key, first.object, first.owners, 0, origin, others)
}

async function ownersOf(
  { registry: { definition, storage }, object, applied }: Wanted,
  origin: WriteOrigin,
  nowMs: number,
): Promise<FieldOwners> {
  const fromContext: RegistryWriteOptions = {
    dryRun: false,
    fieldManager: origin.fieldManager,
    fieldValidation: 'Ignore',
  }
  const manager = managerOf(origin.context, fromContext, definition, '', 'Update')
  const ownersOfRest = (rest: KubernetesObject) =>
    ownersOfNew(rest, { kind: storage.kind, definition, given: undefined, manager, nowMs })
  if (applied === undefined) return ownersOfRest(object)
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => name !== applied.field))
  const applier = { ...manager, name: applied.by, operation: 'Apply', time: formatTime(nowMs) } as const
  return [
    { ...applier, fields: { [`f:${applied.field}`]: noFields } },
    ...(await ownersOfRest(rest as unknown as KubernetesObject)),
  ]
}

/**
 * Objects of one shape have the same owned fields: those of their specs that are structs, and what is in lists and maps that are owned as
 * a whole.
 */
function shapeOf(object: KubernetesObject): string {
  const { labels = {}, annotations = {} } = object.metadata
  const { spec } = object as { readonly spec?: object }
  return [
    object.kind,
    ...Object.keys(object),
    '',
    ...Object.keys(labels),
    '',
    ...Object.keys(annotations),
    ...(spec === undefined ? [] : fieldNames(spec)),
  ].join(' ')
}

/** The names of all fields that are no items of lists, with those of fields below them. */
const fieldNames = (value: object): readonly string[] =>
  Object.entries(value).flatMap(([name, field]) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? [name, '{', ...fieldNames(field), '}']
      : [name],
  )
