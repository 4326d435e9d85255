import { compile, deepEqual, deepFreeze, type KubernetesObject, type StoredKind } from '@coracle/api'
import type { ChangedPart } from './changed-part.ts'
import { metadataForCreate, metadataForUpdate, metadataThroughStatus } from './object-metadata.ts'

/** What is stored of a new object: with its identity, and without what a client may not set. Pure. */
export function prepareForCreate(
  definition: StoredKind,
  object: KubernetesObject,
  identity: { readonly namespace: string; readonly name: string; readonly uid: string },
  nowMs: number,
): KubernetesObject {
  const created = { ...object, metadata: metadataForCreate(definition, object.metadata, identity, nowMs) }
  const fresh =
    definition.hasStatus && !definition.rules.keepsStatusOnCreate
      ? withStatus(created, initialStatus(definition))
      : created
  return definition.strategy.prepareForCreate?.(fresh, nowMs) ?? fresh
}

/** What is stored of a changed object: everything the change may not touch is as it was. Pure. */
export function prepareForUpdate(
  definition: StoredKind,
  given: KubernetesObject,
  old: KubernetesObject,
  { rules, makesGenerations }: Pick<ChangedPart, 'rules' | 'makesGenerations'>,
  nowMs: number,
): KubernetesObject {
  const { strategy, hasStatus, rules: kindRules } = definition
  const metadata = metadataForUpdate(definition, given.metadata, old.metadata)
  if (rules === 'own') {
    const changed = { ...given, metadata }
    return makesGenerations === true && changesDesiredState(changed, old, hasStatus)
      ? nextGeneration(changed, old)
      : changed
  }
  if (rules === 'status') {
    // Of custom resources, and some others, the status alone is written, and of the rest the metadata with it.
    const keeps = definition.custom === undefined ? kindRules.statusKeeps : 'metadata'
    const kept = keeps === undefined ? metadata : metadataThroughStatus(old.metadata, metadata, keeps)
    const changed = withStatusOf({ ...old, metadata: kept }, given)
    return strategy.prepareForStatusUpdate?.(changed, old, nowMs) ?? changed
  }
  const changed = { ...given, metadata }
  const kept = hasStatus ? withStatusOf(changed, old) : changed
  const prepared = strategy.prepareForUpdate?.(kept, old, nowMs) ?? kept
  if (!strategy.countsGenerations || strategy.countsGenerations === 'first-only') return prepared
  const isNext = changesCountedMetadata(strategy, prepared, old) || changesDesiredState(prepared, old, hasStatus)
  return isNext ? nextGeneration(prepared, old) : prepared
}

/** Whether metadata differ that count like the desired state of the kind. */
function changesCountedMetadata(
  { countsGenerations }: StoredKind['strategy'],
  { metadata }: KubernetesObject,
  { metadata: old }: KubernetesObject,
): boolean {
  if (countsGenerations === 'with-annotations') return !deepEqual(metadata.annotations ?? {}, old.annotations ?? {})
  return countsGenerations === 'with-labels' && !deepEqual(metadata.labels ?? {}, old.labels ?? {})
}

function nextGeneration(
  object: KubernetesObject,
  { metadata: { generation = 0 } }: KubernetesObject,
): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, generation: generation + 1 } }
}

/** The status of an object, of whatever kind. */
export function statusOf(object: KubernetesObject): unknown {
  return (object as { readonly status?: unknown }).status
}

const initialStatuses = new WeakMap<StoredKind, { readonly status: unknown }>()

/** The status that an object has where nobody has said one: undefined where the kind has none by default. */
function initialStatus(definition: StoredKind): unknown {
  let initial = initialStatuses.get(definition)
  if (initial === undefined) {
    const field = definition.schema.fields.status
    // Schemas of custom kinds have defaults at any node, those of built-in kinds at fields.
    const byDefault = field?.default ?? field?.schema.default
    const status =
      field === undefined || byDefault === undefined ? undefined : compile(field.schema).applyDefaults(byDefault)
    initial = { status: deepFreeze(status) }
    initialStatuses.set(definition, initial)
  }
  return initial.status
}

/** The object with the status of another; without one where that has none. */
const withStatusOf = (object: KubernetesObject, other: KubernetesObject): KubernetesObject =>
  withStatus(object, statusOf(other))

function withStatus(object: KubernetesObject, status: unknown): KubernetesObject {
  if (statusOf(object) === status) return object
  const { status: _status, ...rest } = object as KubernetesObject & { readonly status?: unknown }
  return status === undefined ? rest : ({ ...rest, status } as KubernetesObject)
}

/** Whether anything but metadata and, where it is a part of its own, the status differs. */
function changesDesiredState(object: KubernetesObject, old: KubernetesObject, hasStatus: boolean): boolean {
  const after = object as unknown as Readonly<Record<string, unknown>>
  const before = old as unknown as Readonly<Record<string, unknown>>
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    if (key !== 'metadata' && (key !== 'status' || !hasStatus) && !deepEqual(after[key], before[key])) return true
  }
  return false
}
