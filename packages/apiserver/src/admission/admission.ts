import type { KubernetesObject, ResourceDefinition, StoredKind } from '@coracle/api'
import type { RequestContext } from '../request.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** What admission judges. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  readonly context: RequestContext
  /** The kind; objects are in the form it is stored in. */
  readonly definition: StoredKind
  /** The version the request is made through. */
  readonly requested: ResourceDefinition
  readonly subresource: string
  readonly namespace: string
  /** As the request names it; empty where a name is still to be generated. */
  readonly name: string
  /** The object as it is stored before the request; undefined on create. */
  readonly old: KubernetesObject | undefined
  readonly dryRun: boolean
}

/** One rule about what may be written. It refuses by throwing an ApiError. */
export interface AdmissionPlugin {
  readonly name: string
  /** Returns the object to go on with: the same, or another that shares what stays. Not called for deletes. */
  mutate?(attributes: AdmissionAttributes, object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>
  /** Judges what would be stored, after the schema has; `object` is undefined for deletes. */
  validate?(attributes: AdmissionAttributes, object: KubernetesObject | undefined): void | Promise<void>
}

/** Admission plugins in order: first all that change objects, then, when the object is valid, all that judge it. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  async mutate(attributes: AdmissionAttributes, object: KubernetesObject): Promise<KubernetesObject> {
    let current = object
    for (const plugin of this.#plugins) {
      const changed = plugin.mutate?.(attributes, current)
      // Waiting costs a turn of the microtask queue, which plugins that answer at once need not pay.
      if (changed !== undefined) current = changed instanceof Promise ? await changed : changed
    }
    return current
  }

  async validate(attributes: AdmissionAttributes, object: KubernetesObject | undefined): Promise<void> {
    for (const plugin of this.#plugins) {
      const pending = plugin.validate?.(attributes, object)
      if (pending !== undefined) await pending
    }
  }
}
