import type { FieldOwners, KubernetesObject, ResourceDefinition, StoredKind } from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import type { JointWrite } from '../registry/object-writer.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The kind of an object that admission sees. */
export type AdmittedKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'applyDefaults'>

/** What a path names, with all versions in which it is served: objects are in the form that they are stored in, where they are. */
export type AdmittedResource = ResourceDefinition & Pick<StoredKind, 'served' | 'versions' | 'custom'>

/** What admission judges. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  readonly context: RequestContext
  /** What the path names. */
  readonly definition: AdmittedResource
  /** The version the request is made through. */
  readonly requested: ResourceDefinition
  readonly subresource: string
  /** What the objects are: the path's own kind, or what its subresource exchanges, such as Scale or Binding. */
  readonly kind: AdmittedKind
  readonly namespace: string
  /** As the request names it; empty where a name is still to be generated. */
  readonly name: string
  /** The object before the request, as `kind`; undefined where the request adds something, or only connects. */
  readonly old: KubernetesObject | undefined
  /** Who owns fields of the object after the request and before it. Undefined where nobody does, as of a Scale. */
  readonly owners: (() => FieldOwners) | undefined
  readonly oldOwners: (() => FieldOwners) | undefined
  /** The request's options. A patch counts as the update it is. */
  readonly options: RegistryWriteOptions | DeleteOptions
  /** Whether an update was asked for as a patch or apply: rights tell the two apart. */
  readonly isPatch: boolean
  readonly dryRun: boolean
  /** Changes of other objects, made in the transaction of the request or not at all: plugins that judge it add to them. */
  readonly alongside: JointWrite[]
  /** Names of the plugins that have changed the object. */
  readonly changedBy: string[]
}

/** What is known of a request before there is an object: enough to say which rules it can concern at all. */
export type AdmissionTarget = Pick<AdmissionAttributes, 'operation' | 'definition' | 'subresource'>

/** One rule about what may be written. It refuses by throwing an ApiError. */
export interface AdmissionPlugin {
  readonly name: string
  /**
   * Whether such requests concern the plugin at all; where it does not say, all do. It is asked once for each kind of request, and its
   * answer may depend on nothing else.
   */
  concerns?(target: AdmissionTarget): boolean
  /**
   * Returns the object to go on with: the same, or another that shares what stays. There is none for deletes. May be called
   * a second time with what it returned, where a later plugin asked for that.
   */
  mutate?(
    attributes: AdmissionAttributes,
    object: KubernetesObject | undefined,
    reinvocation: Reinvocation,
  ): KubernetesObject | undefined | Promise<KubernetesObject | undefined>
  /** Judges what would be stored, after the schema has; `object` is undefined for deletes. */
  validate?(attributes: AdmissionAttributes, object: KubernetesObject | undefined): void | Promise<void>
}

/** One request's way through the plugins that mutate: they run once, and once more if one of them asks for it. */
export class Reinvocation {
  #round: 'first' | 'asked' | 'second' = 'first'

  /** Whether plugins are called for the second time. */
  get isSecondRound(): boolean {
    return this.#round === 'second'
  }

  /** Has all plugins called again: what the caller changed may concern those before it. Changes nothing in the second round. */
  ask(): void {
    if (this.#round === 'first') this.#round = 'asked'
  }

  /** Begins the second round, if one is asked for. */
  next(): boolean {
    if (this.#round !== 'asked') return false
    this.#round = 'second'
    return true
  }
}

/** The plugins that requests of one kind concern, in order. */
interface Concerned {
  readonly mutating: readonly AdmissionPlugin[]
  readonly validating: readonly AdmissionPlugin[]
}

/** Has plugins change an object, from one of them on. */
function change(
  plugins: readonly AdmissionPlugin[],
  from: number,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  reinvocation: Reinvocation,
): KubernetesObject | undefined | Promise<KubernetesObject | undefined> {
  let current = object
  let index = from
  do {
    for (; index < plugins.length; index += 1) {
      const plugin = plugins[index] as AdmissionPlugin
      const changed = plugin.mutate?.(attributes, current, reinvocation)
      if (changed instanceof Promise) {
        const before = current
        return changed.then((next) =>
          change(plugins, index + 1, attributes, changedBy(plugin, attributes, before, next), reinvocation),
        )
      }
      current = changedBy(plugin, attributes, current, changed)
    }
    index = 0
  } while (reinvocation.next())
  return current
}

/** The object to go on with after a plugin, which is noted where it has changed it. */
function changedBy(
  { name }: AdmissionPlugin,
  { changedBy: names }: AdmissionAttributes,
  before: KubernetesObject | undefined,
  after: KubernetesObject | undefined,
): KubernetesObject | undefined {
  if (after === undefined || after === before) return before
  if (!names.includes(name)) names.push(name)
  return after
}

/** Has plugins judge from one of them on. */
function judge(
  plugins: readonly AdmissionPlugin[],
  from: number,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
): Promise<void> | undefined {
  for (let index = from; index < plugins.length; index += 1) {
    const pending = plugins[index]?.validate?.(attributes, object)
    if (pending instanceof Promise) return pending.then(() => judge(plugins, index + 1, attributes, object))
  }
  return undefined
}

/** Admission plugins in order: first all that change objects, then, when the object is valid, all that judge it. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  /** By operation and subresource, for each resource: most plugins are about one, and every write asks. */
  readonly #concerned = new WeakMap<AdmittedResource, Map<string, Concerned>>()

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  /** The object to go on with; undefined where there is none. Answers at once where nobody has to be waited for. */
  mutate<T extends KubernetesObject | undefined>(attributes: AdmissionAttributes, object: T): T | Promise<T> {
    const { mutating } = this.#concernedBy(attributes)
    return change(mutating, 0, attributes, object, new Reinvocation()) as T | Promise<T>
  }

  /** Undefined where nobody has to be waited for. Throws, or rejects with, the refusal of whoever refuses. */
  validate(attributes: AdmissionAttributes, object: KubernetesObject | undefined): Promise<void> | undefined {
    return judge(this.#concernedBy(attributes).validating, 0, attributes, object)
  }

  #concernedBy(target: AdmissionTarget): Concerned {
    const { definition, operation, subresource } = target
    let byRequest = this.#concerned.get(definition)
    if (byRequest === undefined) {
      byRequest = new Map()
      this.#concerned.set(definition, byRequest)
    }
    const request = subresource === '' ? operation : `${operation} ${subresource}`
    const known = byRequest.get(request)
    if (known !== undefined) return known
    const concerned = this.#plugins.filter((plugin) => plugin.concerns?.(target) ?? true)
    const found = {
      mutating: concerned.filter(({ mutate }) => mutate !== undefined),
      validating: concerned.filter(({ validate }) => validate !== undefined),
    }
    byRequest.set(request, found)
    return found
  }
}
