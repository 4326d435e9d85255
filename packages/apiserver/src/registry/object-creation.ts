import { ApiError, type FieldError, type FieldOwners, type KubernetesObject } from '@coracle/api'
import { nameAlphabet } from '@coracle/environment'
import type { WriteOrigin } from '../causes/cause-note.ts'
import type { RegistryWriteOptions, Stored, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { unstored } from '../watch-cache/stored-object.ts'
import { managerOf, ownersErrors, ownersOfNew } from './field-ownership.ts'
import { type Pause, pauseFor, putWithinLimit } from './large-objects.ts'
import { parseResourceVersion } from './list-request.ts'
import { alongsideLine, optimisticAttemptsMax } from './object-change.ts'
import { checkNamespace, generatedName, generatedSuffixLength, namespaceForCreate } from './object-metadata.ts'
import type { JointWrite } from './object-writer.ts'
import { prepareForCreate } from './preparation.ts'
import { nameTaken, noUniqueName, writtenAlongside } from './refusals.ts'
import { answerOf, type RegistryParts, warning } from './registry-parts.ts'
import type { RequestedBody } from './requested-body.ts'
import { sharingSpec } from './structure-sharing.ts'
import { checkCreate } from './validation.ts'
import { WriteAdmission } from './write-admission.ts'

/** How many names are tried for an object with a generated one. */
export const generatedNameAttemptsMax = 8

/** The way of a decoded object into the store. What a request brings about that is a creation only because nothing was there, `implied`, takes the right to create besides. */
export function createObject(
  parts: RegistryParts,
  context: RequestContext,
  requestedNamespace: string,
  decoded: RequestedBody,
  options: RegistryWriteOptions,
  implied = false,
): Promise<WriteResult> {
  const made = createDecoded(parts, context, requestedNamespace, decoded, options, implied)
  return decoded.warnings.length === 0 ? made : warning(decoded.warnings, made)
}

async function createDecoded(
  parts: RegistryParts,
  context: RequestContext,
  requestedNamespace: string,
  decoded: RequestedBody,
  options: RegistryWriteOptions,
  implied: boolean,
): Promise<WriteResult> {
  const { storage, environment, turns, view } = parts
  const { kind } = storage
  const { name: givenName = '', resourceVersion = '' } = decoded.object.metadata
  const givenRevision = parseResourceVersion(resourceVersion)
  const loading = kind.strategy.load?.()
  // Time stands still meanwhile where it is virtual.
  if (loading !== undefined) await environment.clock.hold(loading)
  const namespace = namespaceForCreate(kind, requestedNamespace, decoded.object)
  const pause = pauseFor(turns, decoded.valuesCount, 0)
  if (pause !== undefined) await pause()
  const recorded = decoded.owners ?? ownersOf(parts, context, decoded, options, pause)
  const givenOwners = recorded instanceof Promise ? await recorded : recorded
  if (pause !== undefined) await pause()
  const admission = new WriteAdmission(parts, {
    operation: 'CREATE',
    context,
    subresource: '',
    namespace,
    name: givenName,
    old: undefined,
    owners: () => givenOwners,
    options,
  })
  const admitting = admission.admit(inNamespace(decoded.object, namespace))
  const admitted = admitting instanceof Promise ? await admitting : admitting
  const owners = admission.ownersAfter(givenOwners)
  if (pause !== undefined) await pause()
  if (kind.namespaced) checkNamespace(admitted, namespace)
  const { generateName = '' } = admitted.metadata
  // Admission may have named it, but not what the path names.
  const chosenName = implied ? givenName : (admitted.metadata.name ?? '')
  const generates = chosenName === '' && generateName !== ''
  const nameOf = () => {
    if (generates) return generatedName(generateName, environment.random.string(generatedSuffixLength, nameAlphabet))
    return chosenName === '' && kind.rules.namesNameless === true ? environment.random.uuid() : chosenName
  }
  /** Undefined where the name is taken, or what is to change along with the object has changed. */
  const tryName = async (name: string): Promise<WriteResult | undefined> => {
    const identity = { namespace, name, uid: environment.random.uuid() }
    const prepared = prepareForCreate(kind, admitted, identity, environment.clock.now())
    const allocation = storage.allocator?.allocate(prepared, undefined)
    try {
      const object = sharingSpec(storage.lastCreated, allocation?.object ?? prepared)
      if (decoded.wrongKind !== undefined) throw decoded.wrongKind
      const outside = [
        ...ownersErrors(owners, decoded.managedFields),
        ...outsideErrors(parts, context, namespace, object),
      ]
      await checkCreate(parts, object, outside, pause)
      if (implied) {
        const common = { kind: 'resource', verb: 'create', resource: view.definition, subresource: '' } as const
        parts.authorize(context.user, { ...common, namespace, name })
      }
      const judging = admission.judge(object)
      if (judging !== undefined) await judging
      if (pause !== undefined) await pause()
      const { dryRun, fieldManager } = options
      // Upstream's store refuses it, which a dry run does not reach.
      if (givenRevision > 0 && !dryRun) throw resourceVersionGiven()
      const origin: WriteOrigin = {
        context,
        verb: 'create',
        subresource: '',
        fieldManager,
        admission: admission.changedBy,
      }
      const alongside =
        allocation === undefined ? admission.alongside : [...admission.alongside, ...allocation.alongside]
      const stored = await putWithinLimit(owners, decoded.owners !== undefined, (kept) =>
        insert(parts, namespace, name, object, kept, dryRun, origin, alongside),
      )
      if (stored === undefined) return undefined
      if (!options.dryRun) storage.lastCreated = stored.object
      const warnings = [...decoded.warnings, ...(kind.strategy.warnings?.(object, undefined) ?? [])]
      return answerOf(parts, stored, true, warnings)
    } finally {
      allocation?.release()
    }
  }
  const line = alongsideLine(namespace)
  let isContended = storage.turns.isTaken(line)
  let takenCount = 0
  let contendedCount = 0
  for (;;) {
    const name = nameOf()
    const made = await (isContended ? storage.turns.take(line, () => tryName(name)) : tryName(name))
    if (made !== undefined) return made
    const taken = storage.peek(namespace, name)?.object
    if (taken !== undefined || storage.isUnreadable(namespace, name)) {
      if (!generates) throw nameTaken(kind, name, taken)
      takenCount += 1
      if (takenCount === generatedNameAttemptsMax) throw noUniqueName(kind, name)
      continue
    }
    // What was to be changed along with it has changed: it is judged again.
    isContended = true
    contendedCount += 1
    if (contendedCount === optimisticAttemptsMax) throw writtenAlongside(kind, name)
  }
}

/** What others than a new object have against it. */
function outsideErrors(
  { storage: { kind, outsideRules } }: RegistryParts,
  { user }: RequestContext,
  namespace: string,
  object: KubernetesObject,
): readonly FieldError[] {
  if (outsideRules === undefined) return []
  return outsideRules({ user, definition: kind, subresource: '', verb: 'create', namespace, object, old: undefined })
}

const resourceVersionGiven = (): ApiError =>
  new ApiError(500, '', 'resourceVersion should not be set on objects to be created')

/** The object with the namespace it goes to, which a request may leave to its path. */
function inNamespace(object: KubernetesObject, namespace: string): KubernetesObject {
  if (namespace === '' || object.metadata.namespace === namespace) return object
  return { ...object, metadata: { ...object.metadata, namespace } }
}

/** Who owns what of a new object. What admission adds nobody owns. */
function ownersOf(
  { storage, view, environment }: RegistryParts,
  context: RequestContext,
  { requested, managedFields }: RequestedBody,
  options: RegistryWriteOptions,
  pause: Pause | undefined,
): FieldOwners | Promise<FieldOwners> {
  const manager = managerOf(context, options, view.definition, '', 'Update')
  return ownersOfNew(storage.kind, view.definition, requested, managedFields, manager, environment.clock.now(), pause)
}

/** Stores a new object; undefined where its name is taken. */
function insert(
  { storage }: RegistryParts,
  namespace: string,
  name: string,
  object: KubernetesObject,
  owners: FieldOwners,
  dryRun: boolean,
  origin: WriteOrigin,
  alongside: readonly JointWrite[],
): Promise<Stored | undefined> | Stored | undefined {
  const { cache, writer } = storage
  const key = cache.keyOf(namespace, name)
  if (cache.get(key) !== undefined || cache.unreadable.get(key) !== undefined) return undefined
  return dryRun ? unstored(object, 0, owners) : writer.put(key, object, owners, 0, origin, alongside)
}
