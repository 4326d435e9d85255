import {
  type ApiError,
  badRequest,
  formatTime,
  type KindRules,
  type KubernetesObject,
  type ObjectMeta,
  type Resource,
  type StoredKind,
} from '@coracle/api'

/** What the server adds to a generated name's prefix, and how long the whole may get (apiserver's storage/names). */
export const generatedSuffixLength = 5
const nameLengthMax = 63

/** A generated name: the prefix, cut to leave room, and `suffix`. */
export function generatedName(prefix: string, suffix: string): string {
  return prefix.slice(0, nameLengthMax - generatedSuffixLength) + suffix
}

/** The metadata of a new object: what only the server gives is given, whatever the client wrote there is dropped. */
export function metadataForCreate(
  definition: StoredKind,
  given: ObjectMeta,
  identity: { readonly namespace: string; readonly name: string; readonly uid: string },
  nowMs: number,
): ObjectMeta {
  const { generateName = '' } = given
  const { countsGenerations = false } = definition.strategy
  // Of kinds that do not count what is new it is what the client says.
  const isCounted = countsGenerations !== false && countsGenerations !== 'changes-only'
  const generation = isCounted ? 1 : (given.generation ?? 0)
  const made: Record<string, unknown> = { name: identity.name }
  if (generateName !== '') made.generateName = generateName
  if (definition.namespaced) made.namespace = identity.namespace
  made.uid = identity.uid
  if (generation !== 0) made.generation = generation
  made.creationTimestamp = formatTime(nowMs)
  for (const field of Object.keys(given)) {
    if (!ownFields.has(field)) made[field] = given[field as keyof ObjectMeta]
  }
  return made
}

/** What only the server says of a new object, and what it takes from elsewhere. */
const ownFields: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'selfLink',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'generateName',
])

/** The metadata of a changed object: what only the server gives stays as it was. */
export function metadataForUpdate(definition: StoredKind, given: ObjectMeta, old: ObjectMeta): ObjectMeta {
  if (given === old) return old
  const {
    namespace,
    uid,
    generation: _generation,
    selfLink: _selfLink,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    managedFields: _managedFields,
    ...kept
  } = given
  const ownNamespace = namespace === undefined || namespace === '' ? old.namespace : namespace
  return {
    ...kept,
    ...(definition.namespaced && ownNamespace !== undefined ? { namespace: ownNamespace } : {}),
    ...present('uid', uid === undefined || uid === '' ? old.uid : uid),
    ...present('resourceVersion', old.resourceVersion),
    ...present('generation', old.generation),
    ...present('creationTimestamp', old.creationTimestamp),
    // What marks a deletion cannot be taken away; that it cannot be set either is for validation to say.
    ...present('deletionTimestamp', old.deletionTimestamp ?? deletionTimestamp),
    ...present('deletionGracePeriodSeconds', deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds),
  }
}

function present<K extends keyof ObjectMeta>(key: K, value: ObjectMeta[K]): Partial<ObjectMeta> {
  return value === undefined ? {} : { [key]: value }
}

/** The namespace a new object goes to. Throws a BadRequest where its own contradicts the request's. */
export function namespaceForCreate(
  definition: Pick<Resource, 'namespaced'>,
  requested: string,
  object: KubernetesObject,
): string {
  if (!definition.namespaced) return ''
  const own = object.metadata.namespace ?? ''
  if (requested === '') throw badRequest('an empty namespace may not be set during creation')
  if (own !== '' && own !== requested) throw otherNamespace()
  return requested
}

/** Throws a BadRequest where an object is of another namespace than its URL. */
export function checkNamespace({ metadata }: KubernetesObject, namespace: string): void {
  const own = metadata.namespace ?? ''
  if (own !== '' && own !== namespace) throw otherNamespace()
}

/** Throws a BadRequest where an object is not the one its URL names. */
export function checkIdentity(
  definition: Pick<Resource, 'namespaced'>,
  object: KubernetesObject,
  namespace: string,
  name: string,
): void {
  if (definition.namespaced) checkNamespace(object, namespace)
  const ownName = object.metadata.name ?? ''
  if (ownName === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (ownName !== name) {
    throw badRequest(`the name of the object (${ownName}) does not match the name on the URL (${name})`)
  }
}

const otherNamespace = (): ApiError =>
  badRequest('the namespace of the provided object does not match the namespace sent on the request')

/** The metadata as a write of the status may change it: what a kind `keeps` (`KindRules.statusKeeps`) is as it was. */
export function metadataThroughStatus(
  before: ObjectMeta,
  after: ObjectMeta,
  keeps: NonNullable<KindRules['statusKeeps']>,
): ObjectMeta {
  if (keeps === 'metadata') return before
  if (keeps.every((name) => before[name] === after[name])) return after
  const kept = Object.fromEntries(keeps.flatMap((name) => (before[name] === undefined ? [] : [[name, before[name]]])))
  const changed = Object.entries(after).filter(([name]) => !keeps.some((each) => each === name))
  return { ...Object.fromEntries(changed), ...kept }
}
