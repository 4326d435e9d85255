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

/** A creation that a request asks for. */
export interface RequestedCreation {
  readonly context: RequestContext
  /** The namespace of the path. */
  readonly namespace: string
  readonly body: RequestedBody
  readonly options: RegistryWriteOptions
  /** The request is no creation, but there was nothing to update or apply to: it needs the right to create as well. */
  readonly implied?: boolean
}

/** Creates an object: admits and validates it, and commits it under a name that is not taken. */
export function createObject(parts: RegistryParts, creation: RequestedCreation): Promise<WriteResult> {
  const made = admitAndCreate(parts, creation)
  const { warnings } = creation.body
  return warnings.length === 0 ? made : warning(warnings, made)
}

async function admitAndCreate(parts: RegistryParts, creation: RequestedCreation): Promise<WriteResult> {
  const { context, body, options } = creation
  const { kind } = parts.storage
  const { name = '', resourceVersion = '' } = body.object.metadata
  const givenRevision = parseResourceVersion(resourceVersion)
  const loading = kind.strategy.load?.()
  if (loading !== undefined) await parts.environment.clock.hold(loading)
  const namespace = namespaceForCreate(kind, creation.namespace, body.object)
  const pause = pauseFor(parts.turns, body.valuesCount, 0)
  if (pause !== undefined) await pause()
  const recorded = body.owners ?? ownersOf(parts, context, body, options, pause)
  const givenOwners = recorded instanceof Promise ? await recorded : recorded
  if (pause !== undefined) await pause()
  const admission = new WriteAdmission(parts, {
    operation: 'CREATE',
    context,
    subresource: '',
    namespace,
    name,
    old: undefined,
    owners: () => givenOwners,
    options,
  })
  const admitting = admission.admit(inNamespace(body.object, namespace))
  const object = admitting instanceof Promise ? await admitting : admitting
  const owners = admission.ownersAfter(givenOwners)
  if (pause !== undefined) await pause()
  if (kind.namespaced) checkNamespace(object, namespace)
  return new AdmittedCreation(parts, creation, { namespace, object, owners, admission, givenRevision, pause }).store()
}

/** What admission has made of an object that is to be created. */
interface Admitted {
  readonly namespace: string
  readonly object: KubernetesObject
  readonly owners: FieldOwners
  readonly admission: WriteAdmission
  /** The resourceVersion that the object came with, which a new one must not have; 0 for none. */
  readonly givenRevision: number
  readonly pause: Pause | undefined
}

/** Stores an object that was admitted, under as many generated names, and as often, as it takes. */
class AdmittedCreation {
  readonly #parts: RegistryParts
  readonly #creation: RequestedCreation
  readonly #admitted: Admitted
  /** The name that the object has; '' where one is to be made. */
  readonly #chosenName: string
  readonly #generates: boolean

  constructor(parts: RegistryParts, creation: RequestedCreation, admitted: Admitted) {
    this.#parts = parts
    this.#creation = creation
    this.#admitted = admitted
    const { metadata } = admitted.object
    // Admission may name an object, but not change the name in a path.
    this.#chosenName = (creation.implied === true ? creation.body.object.metadata.name : metadata.name) ?? ''
    this.#generates = this.#chosenName === '' && (metadata.generateName ?? '') !== ''
  }

  async store(): Promise<WriteResult> {
    const { storage } = this.#parts
    const { kind } = storage
    const { namespace } = this.#admitted
    const line = alongsideLine(namespace)
    let isContended = storage.turns.isTaken(line)
    let takenCount = 0
    let contendedCount = 0
    for (;;) {
      const name = this.#nextName()
      const made = await (isContended ? storage.turns.take(line, () => this.#tryName(name)) : this.#tryName(name))
      if (made !== undefined) return made
      const taken = storage.peek(namespace, name)?.object
      if (taken !== undefined || storage.isUnreadable(namespace, name)) {
        if (!this.#generates) throw nameTaken(kind, name, taken)
        takenCount += 1
        if (takenCount === generatedNameAttemptsMax) throw noUniqueName(kind, name)
        continue
      }
      // Another object that is written along with this one has changed: everything that depends on it is judged again.
      isContended = true
      contendedCount += 1
      if (contendedCount === optimisticAttemptsMax) throw writtenAlongside(kind, name)
    }
  }

  #nextName(): string {
    const { environment, storage } = this.#parts
    const { generateName = '' } = this.#admitted.object.metadata
    if (this.#generates)
      return generatedName(generateName, environment.random.string(generatedSuffixLength, nameAlphabet))
    const isNamed = this.#chosenName !== '' || storage.kind.rules.namesNameless !== true
    return isNamed ? this.#chosenName : environment.random.uuid()
  }

  /** Undefined where the name is taken, or another object that is written along with this one has changed. */
  async #tryName(name: string): Promise<WriteResult | undefined> {
    const { storage, environment } = this.#parts
    const { namespace, object: admitted } = this.#admitted
    const identity = { namespace, name, uid: environment.random.uuid() }
    const prepared = prepareForCreate(storage.kind, admitted, identity, environment.clock.now())
    const allocation = storage.allocator?.allocate(prepared, undefined)
    try {
      const object = sharingSpec(storage.lastCreated, allocation?.object ?? prepared)
      await this.#check(name, object)
      return await this.#commit(name, object, allocation?.alongside ?? [])
    } finally {
      allocation?.release()
    }
  }

  /** Throws where the object is not valid, the user may not create it, or validating admission refuses it. */
  async #check(name: string, object: KubernetesObject): Promise<void> {
    const { context, body, implied } = this.#creation
    const { namespace, owners, admission, pause } = this.#admitted
    if (body.wrongKind !== undefined) throw body.wrongKind
    const outside = [
      ...ownersErrors(owners, body.managedFields),
      ...outsideErrors(this.#parts, context, namespace, object),
    ]
    await checkCreate(this.#parts, object, outside, pause)
    if (implied === true) {
      const resource = this.#parts.view.definition
      const common = { kind: 'resource', verb: 'create', resource, subresource: '' } as const
      this.#parts.authorize(context.user, { ...common, namespace, name })
    }
    const judging = admission.judge(object)
    if (judging !== undefined) await judging
    if (pause !== undefined) await pause()
  }

  /** Undefined where the name is taken, or an object in `alongside` is no longer as it was read. */
  async #commit(
    name: string,
    object: KubernetesObject,
    allocated: readonly JointWrite[],
  ): Promise<WriteResult | undefined> {
    const { storage } = this.#parts
    const { context, body, options } = this.#creation
    const { namespace, owners, admission, givenRevision } = this.#admitted
    const { dryRun, fieldManager } = options
    // Upstream's store refuses it, which a dry run does not reach.
    if (givenRevision > 0 && !dryRun) throw resourceVersionGiven()
    const { changedBy } = admission
    const origin: WriteOrigin = { context, verb: 'create', subresource: '', fieldManager, admission: changedBy }
    const alongside = allocated.length === 0 ? admission.alongside : [...admission.alongside, ...allocated]
    const key = storage.cache.keyOf(namespace, name)
    const stored = await putWithinLimit<Stored | undefined>(owners, body.owners !== undefined, (kept) => {
      if (storage.cache.get(key) !== undefined || storage.cache.unreadable.get(key) !== undefined) return undefined
      return dryRun ? unstored(object, 0, kept) : storage.writer.put(key, object, kept, 0, origin, alongside)
    })
    if (stored === undefined) return undefined
    if (!dryRun) storage.lastCreated = stored.object
    const warnings = [...body.warnings, ...(storage.kind.strategy.warnings?.(object, undefined) ?? [])]
    return answerOf(this.#parts, stored, true, warnings)
  }
}

/** The errors of a new object by rules that depend on more than the object. */
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

/** The owners of a new object's fields. What admission adds has no owner. */
function ownersOf(
  { storage, view, environment }: RegistryParts,
  context: RequestContext,
  { requested, managedFields }: RequestedBody,
  options: RegistryWriteOptions,
  pause: Pause | undefined,
): FieldOwners | Promise<FieldOwners> {
  const manager = managerOf(context, options, view.definition, '', 'Update')
  const { kind } = storage
  const { definition } = view
  const nowMs = environment.clock.now()
  return ownersOfNew(requested, { kind, definition, given: managedFields, manager, nowMs, pause })
}
