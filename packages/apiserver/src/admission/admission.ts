import type { FieldOwners, KubernetesObject, ResourceDefinition, StoredKind } from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import type { JointWrite } from '../registry/object-writer.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The kind of an object that admission sees. */
export type AdmittedKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'applyDefaults'>

/** What a path names, with all versions in which it is served: objects are in the form that they are stored in, where they are. */
export type AdmittedResource = ResourceDefinition & Pick<StoredKind, 'served' | 'versions'>

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

/** Admission plugins in order: first all that change objects, then, when the object is valid, all that judge it. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  /** By operation and subresource, for each resource: most plugins are about one, and every write asks. */
  readonly #concerned = new WeakMap<AdmittedResource, Map<string, Concerned>>()

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  /** The object to go on with; undefined where there is none. */
  async mutate<T extends KubernetesObject | undefined>(attributes: AdmissionAttributes, object: T): Promise<T> {
    const { mutating } = this.#concernedBy(attributes)
    const reinvocation = new Reinvocation()
    let current: KubernetesObject | undefined = object
    do {
      for (const plugin of mutating) {
        const changed = plugin.mutate?.(attributes, current, reinvocation)
        // Waiting costs a turn of the microtask queue, which plugins that answer at once need not pay.
        const next = changed instanceof Promise ? await changed : changed
        if (next === undefined || next === current) continue
        current = next
        if (!attributes.changedBy.includes(plugin.name)) attributes.changedBy.push(plugin.name)
      }
    } while (reinvocation.next())
    return current as T
  }

  async validate(attributes: AdmissionAttributes, object: KubernetesObject | undefined): Promise<void> {
    for (const plugin of this.#concernedBy(attributes).validating) {
      const pending = plugin.validate?.(attributes, object)
      if (pending !== undefined) await pending
    }
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
